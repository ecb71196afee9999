"""Write what parts of the kit share: the contract, section by section."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

from agent_image import contract
from docs.markdown import code, table


def names() -> str:
    """Write the contract section by section: constants with what they mean, enumerations with their values."""
    source = Path(contract.__file__).read_text()
    heads = [
        (source[: found.start()].count("\n"), found[1])
        for found in re.finditer(r"^# --- (.+?) -+$", source, re.MULTILINE)
    ]
    nodes = ast.parse(source).body
    parts: list[str] = []
    for (start, title), (end, _) in zip(heads, [*heads[1:], (10**9, "")], strict=True):
        inside = [
            (one, after) for one, after in zip(nodes, [*nodes[1:], None], strict=True) if start < one.lineno <= end
        ]
        if found := [*_section(inside)]:
            parts += [f"## {title[0].upper()}{title[1:]}", *found]
    return "\n\n".join(parts)


def _section(nodes: Iterable[tuple[ast.stmt, ast.stmt | None]]) -> Iterator[str]:
    rows: list[tuple[str, str, str]] = []
    for node, after in nodes:
        if isinstance(node, ast.ClassDef) and issubclass(kind := getattr(contract, node.name), Enum):
            yield f"`{node.name}`: {ast.get_docstring(node)}\n\n{code(member.value for member in kind)}"
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        name, value, meaning = node.target.id, getattr(contract, node.target.id), _said(after)
        if name.startswith("_"):
            continue
        if isinstance(value, (str, int, Decimal)):
            rows.append((f"`{name}`", f"`{value}`", meaning))
        else:
            yield f"`{name}`: {meaning}\n\n{_collection(value)}"
    if rows:
        yield table(("name", "value", "meaning"), rows)


def _said(node: ast.stmt | None) -> str:
    said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return " ".join(str(node.value.value).split()) if said else ""  # type: ignore[union-attr]


def _collection(value: Any) -> str:  # noqa: ANN401 - constants of the contract are of many types
    if isinstance(value, Mapping):
        if isinstance(first := next(iter(value.values())), Mapping):
            # The same in every regime but for the variable that names it.
            value = {**first, contract.CAPTURE_VARIABLE: "the regime"}
        return table(("variable", "value"), ((f"`{key}`", f"`{found}`") for key, found in value.items()))
    if isinstance(value, contract.Quantity):
        value = (value,)
    if isinstance(found := next(iter(value)), contract.Quantity):
        head = ("key", "unit", "range", "default", "meaning")
        return table(head, ((f"`{q.key}`", q.unit, _range(q), _default(q), q.meaning) for q in value))
    return f"from {value[0]} to {value[1]}" if isinstance(found, int) else code(sorted(value))


def _range(quantity: contract.Quantity) -> str:
    high = "" if quantity.maximum is None else f" to {quantity.maximum:,f}"
    return f"{quantity.minimum}{high or ' or more'}{', whole' if quantity.whole else ''}"


def _default(quantity: contract.Quantity) -> str:
    return "required" if quantity.required else "" if quantity.default is None else f"{quantity.default}"
