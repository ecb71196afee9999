"""Validate a synthesised document, `cdk.tf.json`, against the provider's argument schema.

The check knows names, nesting, required arguments, types and references. It does not know enumerations, patterns,
arguments that exclude each other or the number of blocks that a provider accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.terraform_schema.finding import Fault, Finding, nearest
from tests.terraform_schema.references import COMMENT, item_path, reference_findings
from tests.terraform_schema.schema import Argument, Kind, Schema, Type, load_schema

__all__ = ["Fault", "Finding", "Schema", "findings", "load_schema"]

_META_ARGUMENTS: Final = frozenset(
    {"connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner", "timeouts"}
)
"""Arguments that Terraform itself reads; `timeouts` is checked where the schema has it."""

_PYTHON_TYPES: Final[Mapping[Type, tuple[type, ...]]] = {
    Type.STRING: (str,),
    Type.NUMBER: (int, float),
    Type.BOOL: (bool,),
    Type.LIST: (list,),
    Type.MAP: (dict,),
    Type.BLOCK: (dict,),
    Type.ANY: (object,),
}


def findings(document: dict[str, Any], schema: Schema) -> list[Finding]:
    """Return everything in a document that the schema does not allow, in the document's order."""
    return [
        *_section(document, "resource", schema.resources),
        *_section(document, "data", schema.data_sources),
        *_providers(document, schema),
        *reference_findings(document, schema),
    ]


def _section(document: dict[str, Any], section: str, kinds: Mapping[str, Kind]) -> Iterator[Finding]:
    for type_name, declared in document.get(section, {}).items():
        if type_name == COMMENT:
            continue
        kind = kinds.get(type_name)
        if kind is None:
            yield _unknown_type(f"{section}.{type_name}", kinds)
            continue
        for name, body in declared.items():
            path = f"{section}.{type_name}.{name}"
            yield from _blocks(body, kind.arguments, path, _META_ARGUMENTS)


def _providers(document: dict[str, Any], schema: Schema) -> Iterator[Finding]:
    for name, body in document.get("provider", {}).items():
        if name == schema.local_name:
            yield from _blocks(body, schema.provider_arguments, f"provider.{name}")
        elif name != COMMENT:
            yield _unknown_type(f"provider.{name}", [schema.local_name])


def _unknown_type(path: str, known: Mapping[str, Kind] | list[str]) -> Finding:
    name = path.rpartition(".")[2]
    problem = f"the schema has no {name}{nearest(name, known)} (or list it in tests/terraform_schema/extract.py)"
    return Finding(path, Fault.UNKNOWN_TYPE, problem)


def _blocks(
    value: object, arguments: Mapping[str, Argument], path: str, skipped: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Check one block or a list of blocks."""
    bodies = value if isinstance(value, list) else [value]
    for index, body in enumerate(bodies):
        where = item_path(path, index, len(bodies))
        if _is_expression(body):
            continue
        if isinstance(body, dict):
            yield from _block(body, arguments, where, skipped)
        else:
            yield _wrong_type(where, Type.BLOCK, body)


def _block(
    body: dict[str, Any], arguments: Mapping[str, Argument], path: str, skipped: frozenset[str]
) -> Iterator[Finding]:
    for name, value in body.items():
        argument = arguments.get(name)
        if argument is not None:
            yield from _value(value, argument, f"{path}.{name}")
        elif name != COMMENT and name not in skipped:
            problem = f"unknown argument{nearest(name, arguments)}"
            yield Finding(f"{path}.{name}", Fault.UNKNOWN_ARGUMENT, problem)
    for name, argument in arguments.items():
        # Terraform reads null as absent.
        if argument.required and body.get(name) is None:
            yield Finding(f"{path}.{name}", Fault.MISSING_ARGUMENT, "required argument is missing")


def _value(value: object, argument: Argument, path: str) -> Iterator[Finding]:
    if value is None or _is_expression(value):
        return
    if argument.block is not None:
        yield from _blocks(value, argument.block, path)
    elif not _has_type(value, argument.type):
        yield _wrong_type(path, argument.type, value)
    elif argument.element is not None and isinstance(value, list | dict):
        for where, item in _items(value, path):
            if not (item is None or _is_expression(item) or _has_type(item, argument.element)):
                yield _wrong_type(where, argument.element, item)


def _items(value: dict[str, Any] | list[Any], path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        return ((f"{path}.{key}", item) for key, item in value.items() if key != COMMENT)
    return ((item_path(path, index, len(value)), item) for index, item in enumerate(value))


def _is_expression(value: object) -> bool:
    """Say whether Terraform computes a value: text around `${…}` makes it text again."""
    return isinstance(value, str) and value.startswith("${") and value.endswith("}")


def _has_type(value: object, expected: Type) -> bool:
    # Python counts a bool among the integers, Terraform does not.
    if isinstance(value, bool):
        return expected in (Type.BOOL, Type.ANY)
    return isinstance(value, _PYTHON_TYPES[expected])


def _wrong_type(path: str, expected: Type, value: object) -> Finding:
    return Finding(path, Fault.WRONG_TYPE, f"expected a {expected}, got {value!r} ({_type_of(value)})")


def _type_of(value: object) -> str:
    return next((str(one) for one in Type if one is not Type.ANY and _has_type(value, one)), "null")
