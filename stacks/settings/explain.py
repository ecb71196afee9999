"""Explain what a model refused, in the words of a settings file: key paths, values, and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from stacks.settings.fault import Fault, nearest, shown


def explain(file: str, model: type[BaseModel], error: ValidationError) -> Iterator[Fault]:
    """Turn what a model refused into faults: key path, value, and what is allowed there."""
    for item in error.errors(include_url=False):
        location = _key_path(model, item["loc"])
        if item["loc"][-1] == "[key]" and item["type"] != "extra_forbidden":
            location = location[:-1]
        path = ".".join(map(str, location))
        context = item.get("ctx", {})
        match item["type"]:
            case "missing":
                yield Fault(file, path, "is required and missing", None, _allowed(model, location))
            case "extra_forbidden":
                problem, hint = _extra(model, location, item["loc"])
                yield Fault(file, path, problem, shown(item["input"]), hint)
            case "refused":
                yield Fault(file, path, context["problem"], shown(item["input"]), context["allowed"])
            case "union_tag_invalid" | "union_tag_not_found" if isinstance(item["input"], Mapping):
                key = context["discriminator"].strip("'")
                found = shown(item["input"][key]) if key in item["input"] else None
                problem = "is required and missing" if found is None else "is not one of the choices"
                yield Fault(file, f"{path}.{key}", problem, found, _allowed(model, (*location, key)))
            case "literal_error":
                choices = _allowed(model, location) or _listed(model, location, item["input"])
                yield Fault(file, path, "is not one of the choices", shown(item["input"]), choices)
            case "too_short" | "string_too_short" | "too_long":
                problem, allowed = _size(context, item["input"])
                yield Fault(file, path, problem, None, allowed or _allowed(model, location))
            case kind if kind in _WANTED:
                yield Fault(file, path, "is of another type", shown(item["input"]), f"allowed: {_WANTED[kind]}")
            case _:
                yield Fault(file, path, _lower_first(item["msg"]), shown(item["input"]), _allowed(model, location))


def _size(context: Mapping[str, Any], found: Any) -> tuple[str, str | None]:
    if "max_length" in context:
        return f"has {len(found)} entries", f"allowed: at most {context['max_length']}"
    return "is empty", None


_WANTED: Final = {
    "string_type": "text, in quotes",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list, in square brackets",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "union_tag_not_found": "a table",
}


def _key_path(model: type[BaseModel], location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Turn the place of an error into a key path: after the key of a union stands its branch, which is no key."""
    path: tuple[str | int, ...] = ()
    parts = iter(location)
    for part in parts:
        path = (*path, part)
        if any(_is_union(field.annotation) for field in _fields_at(model, path)):
            next(parts, None)
    return path


def _allowed(model: type[BaseModel], path: tuple[str | int, ...]) -> str | None:
    """Say what the key takes: its choices, or what it means."""
    fields = _fields_at(model, path)
    choices = [choice for field in fields for choice in _choices(field)]
    if choices:
        return f"allowed: {', '.join(map(str, choices))}"
    return next((_lower_first(field.description).rstrip(".") for field in fields if field.description), None)


def _choices(field: FieldInfo) -> Iterator[object]:
    extra = field.json_schema_extra
    yield from extra.get("enum", ()) if isinstance(extra, dict) else ()  # type: ignore[misc] # JSON values are of any type
    for part in (field.annotation, *get_args(field.annotation)):
        yield from map(shown, get_args(part)) if get_origin(part) is Literal else ()


def _listed(model: type[BaseModel], path: tuple[str | int, ...], found: object) -> str:
    """Say what an entry of a list may be."""
    entries = [entry for field in _fields_at(model, path[:-1]) for entry in get_args(field.annotation)]
    return nearest(
        str(found), [str(one) for entry in entries if get_origin(entry) is Literal for one in get_args(entry)]
    )


def _extra(model: type[BaseModel], path: tuple[str | int, ...], location: tuple[str | int, ...]) -> tuple[str, str]:
    """Say what is wrong with a key that its table does not take, and what is allowed; another branch may take it."""
    key, tables = str(path[-1]), _tables_at(model, path[:-1])
    if branches := [table for table in tables if key in table.model_fields]:
        return f"does not go with {shown(location[-2])}", _branches(branches)
    return "is an unknown key", nearest(key, {name for table in tables for name in table.model_fields})


def _branches(tables: Iterable[type[BaseModel]]) -> str:
    """Say which branches of a union know a key, each by the key that chooses it."""
    chosen = ((key, get_args(field.annotation)) for table in tables for key, field in table.model_fields.items())
    named = [
        f"{key} = {shown(choices[0])}" for key, choices in chosen if len(choices) == 1 and isinstance(choices[0], str)
    ]
    return f"allowed: with {' or '.join(named)}"


def _fields_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[FieldInfo]:
    tables = _tables_at(model, path[:-1])
    return [table.model_fields[key] for table in tables if (key := str(path[-1])) in table.model_fields]


def _tables_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[type[BaseModel]]:
    """List the kinds of table that may stand at a key path: more than one where a table is a union."""
    if not path:
        return [model]
    if isinstance(path[-1], int) or _is_name(model, path):
        return _tables_at(model, path[:-1])
    return [table for field in _fields_at(model, path) for table in _models_in(field.annotation)]


def _is_union(annotation: Any) -> bool:
    members = [member for member in get_args(annotation) if member is not type(None)]
    return get_origin(annotation) in {Union, UnionType} and len(members) > 1


def _is_name(model: type[BaseModel], path: tuple[str | int, ...]) -> bool:
    """Tell whether a key is one that the file's author chose: it names a table among others like it."""
    holders = _fields_at(model, path[:-1]) if path[:-1] else []
    return any(get_origin(field.annotation) is dict for field in holders)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models_in(argument)


def _lower_first(message: str) -> str:
    # An abbreviation stays one: "ARNs", "USD".
    return message if message[1:2].isupper() else message[:1].lower() + message[1:]
