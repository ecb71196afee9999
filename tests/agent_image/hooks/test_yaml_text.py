"""YAML is read strictly: it means one thing, and cannot grow."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.errors import SettingsError
from agent_image.hooks.yaml_text import DEPTH, NODES, read_yaml

STAR = 'allowed: in quotes, a text that begins with *, as in matcher: "*"'


def faults(text: str | bytes) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        read_yaml(text.encode() if isinstance(text, str) else text)
    return caught.value.faults


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-3", -3),
        ("012", 12),
        ("0o17", 15),
        ("0x1e", 30),
        ("30.0", Decimal("30.0")),
        (".5", Decimal("0.5")),
        ("1e3", Decimal(1000)),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2026-01-31", "2026-01-31"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("'null'", "null"),
        ("''", ""),
        ("9" * 19, "9" * 19),
    ],
)
def test_scalars_are_those_of_the_core_schema(text: str, value: Any) -> None:
    """`no` and `on` are texts, a fraction is exact, and what stands in quotes is a text."""
    read = read_yaml(text.encode())

    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("text", ["a:", "a: ~", "a: null", "a: &b"])
def test_nothing_is_null(text: str) -> None:
    """However it is written."""
    assert read_yaml(text.encode()) == {"a": None}


def test_texts_come_folded_and_literal() -> None:
    """As scripts and prompts are written, line ends of another system included, after a byte order mark."""
    text = "\ufeffliteral: |\r\n  one\r\n\r\n    two\r\nfolded: >-\r\n  one\r\n  two\r\n"

    assert read_yaml(text.encode()) == {"literal": "one\n\n  two\n", "folded": "one two"}


def test_an_alias_stands_for_what_its_anchor_holds() -> None:
    """An object, a list and a text."""
    assert read_yaml(b"a: &x {b: 1}\nc: *x\nd: &y [1]\ne: *y\n&z f: *z") == {
        "a": {"b": 1},
        "c": {"b": 1},
        "d": [1],
        "e": [1],
        "f": "f",
    }


def test_a_merge_key_is_a_key_as_any() -> None:
    """YAML 1.2 has none."""
    assert read_yaml(b"a: &x {b: 1}\nc: {<<: *x}") == {"a": {"b": 1}, "c": {"<<": {"b": 1}}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty; allowed: a YAML document"),
        ("# nothing\n", "is empty; allowed: a YAML document"),
        ("---\n", "is empty; allowed: a YAML document"),
        ("~", "is empty; allowed: a YAML document"),
        (b"a: \xff", "is no UTF-8 at byte 3; allowed: a text in UTF-8"),
        ("a: 1".encode("utf-16"), "is no UTF-8 at byte 0; allowed: a text in UTF-8"),
        (b"a" * 1_000_001, "has 1,000,001 bytes; allowed: 1,000,000 or fewer"),
        ("a: \x07", "holds a character that YAML does not have, at position 3; allowed: printable text"),
        ("a:\n\tb: 1", "line 2, column 1: a tab stands outside of quotes; allowed: spaces"),
        (
            "a:\n  matcher: *\n",
            f"line 2, column 13: an anchor has no such name; {STAR}",
        ),
        (
            "a: *b",
            f"line 1, column 4: no anchor of this name stands before; {STAR}",
        ),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document begins; allowed: one"),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: a stands twice; allowed: once"),
        ("a: [{b: 1, 'b': 2}]", "line 1, column 12: a[0].b stands twice; allowed: once"),
        ("1: a", "line 1, column 1: a key of the document is no name; allowed: a short text"),
        ("a: {true: b}", "line 1, column 5: a key of a is no name; allowed: a short text"),
        ("a: {[b]: c}", "line 1, column 5: a key of a is no name; allowed: a short text"),
        ("'': a", "line 1, column 1: a key of the document is no name; allowed: a short text"),
        ('"a\\e[2J": b', "line 1, column 1: a key of the document is no name; allowed: a short text"),
        ("k" * 201 + ": b", "line 1, column 1: a key of the document is no name; allowed: a short text"),
        ("a: !!str 1", "line 1, column 4: a has a tag; allowed: values without tags"),
        ("a: ! 1", "line 1, column 4: a has a tag; allowed: values without tags"),
        ("!!python/name:os.system", "line 1, column 1: the document has a tag; allowed: values without tags"),
        ("a: b: c", "line 1, column 5: is no YAML, mapping values are not allowed here; allowed: a YAML document"),
        ('a: "\\UFFFFFFFF"', "holds digits that stand for no character or version; allowed: a YAML document"),
        ('a: "\\U00110000"', "holds digits that stand for no character or version; allowed: a YAML document"),
        (f"%YAML {'1' * 5_000}.1", "holds digits that stand for no character or version; allowed: a YAML document"),
        ("a: 'x", "line 1, column 6: is no YAML, found unexpected end of stream; allowed: a YAML document"),
    ],
    ids=lambda text: str(text)[:40] or "nothing",
)
def test_a_fault_says_where(text: str | bytes, fault: str) -> None:
    """The line and the column, and what is allowed."""
    assert faults(text) == (fault,)


def test_every_key_that_stands_twice_is_named() -> None:
    """At once, with keys that are none."""
    assert faults("a: {b: 1, b: 2}\nc: [{1: 2}]\na: 3") == (
        "line 1, column 11: a.b stands twice; allowed: once",
        "line 2, column 6: a key of c[0] is no name; allowed: a short text",
        "line 3, column 1: a stands twice; allowed: once",
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "[" * (DEPTH + 1) + "]" * (DEPTH + 1),
        # Each lies one level deep, and holds the one before.
        "\n".join(["a0: &a0 [1]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, DEPTH))]),
        "\n".join(["b0: &b0 [1]", *(f"b{n}: &b{n} [[*b{n - 1}], 1]" for n in range(1, DEPTH // 2))]),
    ],
    ids=lambda text: text[:12],
)
def test_a_document_has_no_more_than_so_many_levels(text: str) -> None:
    """Those that aliases bring along are counted, and nothing is read that lies deeper."""
    assert faults(text)[0].endswith(f"more than {DEPTH} levels; allowed: fewer")


def test_as_many_levels_as_allowed_are_read() -> None:
    """And no fewer."""
    assert read_yaml(("[" * DEPTH + "]" * DEPTH).encode())


@pytest.mark.parametrize(
    "text",
    [
        "- a\n" * NODES,
        "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        + "\n".join(
            f"{one}: &{one} [{', '.join([f'*{before}'] * 10)}]"
            for before, one in zip("abcdefgh", "bcdefghi", strict=True)
        ),
    ],
    ids=["a list", "aliases of aliases"],
)
def test_a_document_has_no_more_than_so_many_values(text: str) -> None:
    """Those that aliases repeat are counted each time."""
    assert faults(text)[0].endswith(f"more than {NODES:,} values; allowed: fewer")


def test_an_alias_within_its_own_anchor_is_refused() -> None:
    """It would never end."""
    assert "no anchor of this name" in faults("a: &a [*a]")[0]


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], include_characters="\n\t\0"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcdef", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
).filter(lambda value: value is not None)


@given(VALUES)
def test_json_is_read_as_itself(value: Any) -> None:
    """An editor may write it in the place of YAML."""
    assert read_yaml(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.text() | st.text("ab:*&!- []{}'\"\n\t#|>%@,?"))
def test_any_text_is_a_value_or_a_fault(text: str) -> None:
    """Nothing else is raised."""
    try:
        read_yaml(text.encode(errors="surrogatepass"))
    except SettingsError as error:
        assert error.faults  # noqa: PT017 - either outcome is right


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_a_fault(data: bytes) -> None:
    """Nothing else is raised."""
    try:
        read_yaml(data)
    except SettingsError as error:
        assert error.faults  # noqa: PT017 - the same
