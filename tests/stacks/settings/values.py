"""Draw what a TOML file can hold, and write it as TOML."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from hypothesis import strategies as st


@dataclass(frozen=True, slots=True)
class Raw:
    """Hold a value as TOML writes it, where Python would not write it back."""

    text: str


Value = str | int | bool | Decimal | Raw | list["Value"] | dict[str, "Value"]
_RAW = ("2026-11-30", "07:32:00", "2026-11-30T07:32:00Z", "0x" + "f" * 3_000, "1e999999", "-0.0", "9" * 4_000)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_SCALARS = st.one_of(
    TEXTS,
    st.integers(),
    st.sampled_from(_RAW).map(Raw),
    st.booleans(),
    st.decimals(allow_nan=True, allow_infinity=True).filter(lambda number: not number.is_snan()),
)


def values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Value]:
    """Draw any TOML value; tables take their keys from the given strategy."""
    return st.recursive(
        _SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4))
    )


def written(value: Value) -> str:
    """Write a value as TOML, tables inline."""
    match value:
        case bool() | int():
            return str(value).lower()
        case Raw():
            return value.text
        case Decimal():
            return _decimal(value)
        case str():
            return _quoted(value)
        case list():
            return f"[{', '.join(map(written, value))}]"
        case dict():
            return f"{{{', '.join(f'{_quoted(key)} = {written(inner)}' for key, inner in value.items())}}}"


def _decimal(value: Decimal) -> str:
    if value.is_nan() or value.is_infinite():
        return f"{'-' if value.is_signed() else ''}{'nan' if value.is_nan() else 'inf'}"
    sign, digits, exponent = value.as_tuple()
    return f"{'-' if sign else ''}{int(''.join(map(str, digits)))}e{exponent}"


def _quoted(text: str) -> str:
    return (
        '"' + "".join(f"\\U{ord(char):08x}" if char in '"\\' or not char.isprintable() else char for char in text) + '"'
    )
