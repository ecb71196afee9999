"""Find the references to AWS resources and data sources that a Terraform JSON document makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tests.terraform_schema.finding import Fault, Finding, nearest
from tests.terraform_schema.schema import Schema

COMMENT: Final = "//"
"""The key under which Terraform ignores everything; CDKTF writes its metadata there."""

_BARE: Final = frozenset({"depends_on", "replace_triggered_by"})
"""Arguments whose strings are references without `${}` around them."""

_REFERENCE: Final = re.compile(
    r"""(?<![\w.-])                      # the start of a traversal, not its middle
    (?P<data>data\.)?(?P<type>aws_\w+)
    \.(?P<name>[A-Za-z_][\w-]*)
    (?:\[[^\]]*\]|\.\*)?                # the instance of a resource with count or for_each
    (?:\.(?P<attribute>[A-Za-z_]\w*))?""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """Name what one traversal reads; without an attribute it reads, or waits for, the whole resource."""

    section: str
    type: str
    name: str
    attribute: str | None

    @property
    def address(self) -> str:
        """Return the address as Terraform prints it."""
        prefix = "data." if self.section == "data" else ""
        return f"{prefix}{self.type}.{self.name}"


def reference_findings(document: dict[str, Any], schema: Schema) -> list[Finding]:
    """Report references to what the document does not declare and to attributes that do not exist."""
    return [
        finding
        for path, reference in _references(document, "", bare=False)
        if (finding := _check(path, reference, document, schema)) is not None
    ]


def references_in(text: str) -> list[Reference]:
    """Return the references inside the `${…}` expressions of a string, also of a string that holds JSON."""
    return [reference for expression in _expressions(text) for reference in _references_of(expression)]


def item_path(path: str, index: int, length: int) -> str:
    """Return the path of a list's item; one item needs no index, so that `{}` and `[{}]` have one path."""
    return path if length == 1 else f"{path}[{index}]"


def _references(value: object, path: str, *, bare: bool) -> Iterator[tuple[str, Reference]]:
    match value:
        case str():
            for reference in _references_of(value) if bare else references_in(value):
                yield path, reference
        case list():
            for index, item in enumerate(value):
                yield from _references(item, item_path(path, index, len(value)), bare=bare)
        case dict():
            for key, item in value.items():
                if key != COMMENT:
                    yield from _references(item, f"{path}.{key}".lstrip("."), bare=key in _BARE)


def _expressions(text: str) -> Iterator[str]:
    """Cut the `${…}` parts out of a string; `$${` is how Terraform writes a literal `${`."""
    position = 0
    while (start := text.find("${", position)) >= 0:
        position = start + 2
        if start and text[start - 1] == "$":
            continue
        depth = 1
        while position < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            position += 1
        yield text[start + 2 : position - 1]


def _references_of(expression: str) -> Iterator[Reference]:
    for match in _REFERENCE.finditer(expression):
        section = "data" if match["data"] else "resource"
        yield Reference(section, match["type"], match["name"], match["attribute"])


def _check(path: str, reference: Reference, document: dict[str, Any], schema: Schema) -> Finding | None:
    declared = document.get(reference.section, {}).get(reference.type, {})
    if reference.name not in declared:
        problem = f"{reference.address} is not declared in this document{nearest(reference.name, declared)}"
        return Finding(path, Fault.UNDECLARED, problem)
    kinds = schema.data_sources if reference.section == "data" else schema.resources
    kind = kinds.get(reference.type)
    # An unknown type is a finding of its own where it is declared; its attributes cannot be judged.
    if kind is None or reference.attribute is None or reference.attribute in kind.attributes:
        return None
    problem = (
        f"{reference.address} has no attribute {reference.attribute}{nearest(reference.attribute, kind.attributes)}"
    )
    return Finding(path, Fault.UNKNOWN_ATTRIBUTE, problem)
