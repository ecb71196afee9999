"""Read every settings file, and give either frozen settings or every fault of every file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from stacks.settings import rules
from stacks.settings.fault import Fault, SettingsError, nearest, shown
from stacks.settings.model import Account, Environment

_ENVIRONMENT_NAME: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,14}[a-z0-9])?")
M = TypeVar("M", bound=BaseModel)
_ACCOUNT_NAME: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Source:
    """Name the file that settings came from, relative to the settings folder, and the digest of its bytes."""

    file: str
    digest: str


@dataclass(frozen=True, slots=True)
class AccountSettings:
    """Settings of one account and Region."""

    alias: str
    declared: Account
    source: Source


@dataclass(frozen=True, slots=True)
class EnvironmentSettings:
    """Settings of one environment, with the account it belongs to."""

    name: str
    declared: Environment
    source: Source
    account: AccountSettings

    @property
    def keeps_trail(self) -> bool:
        """Tell whether what holds the trail outlives the stack."""
        return rules.on_destroy(self.name, self.declared.on_destroy) == "keep"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the stacks are built from."""

    accounts: tuple[AccountSettings, ...]
    environments: tuple[EnvironmentSettings, ...]


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    shown_as: str
    source: Source
    table: Mapping[str, Any]


def load(folder: Path) -> Settings:
    """Read `<folder>/accounts/*.toml` and `<folder>/*.toml`.

    Raises:
        SettingsError: any file is unreadable or at fault; it carries every fault of every file.
    """
    faults: list[Fault] = []
    if not folder.is_dir():
        raise SettingsError(
            [Fault(str(folder), "", "there is no such folder", None, "name the folder of environments")]
        )
    folder = folder.absolute()
    account_files = list(_read(folder, folder / "accounts", _ACCOUNT_NAME, faults))
    environment_files = list(_read(folder, folder, _ENVIRONMENT_NAME, faults))
    if not environment_files and not faults:
        faults.append(Fault(folder.name, "", "holds no environment", None, "add <environment>.toml"))

    accounts = _validate_all(account_files, Account, faults)
    environments = _validate_all(environment_files, Environment, faults)
    aliases = {path.stem for path in (folder / "accounts").glob("*.toml")}
    faults.extend(_rule_faults(environment_files, account_files, aliases))
    if faults:
        raise SettingsError(faults)

    by_alias = {
        file.name: AccountSettings(file.name, account, file.source)
        for file, account in zip(account_files, accounts, strict=True)
    }
    return Settings(
        tuple(by_alias.values()),
        tuple(
            EnvironmentSettings(file.name, environment, file.source, by_alias[environment.account])
            for file, environment in zip(environment_files, environments, strict=True)
        ),
    )


def _read(root: Path, folder: Path, name_rule: re.Pattern[str], faults: list[Fault]) -> Iterator[_File]:
    for path in sorted(folder.glob("*.toml")):
        shown_as = f"{root.name}/{path.relative_to(root).as_posix()}"
        if name_rule.fullmatch(path.stem) is None:
            allowed = "allowed: lower-case letters, digits and hyphens, at most 16 (an account: 32) of them"
            faults.append(Fault(shown_as, "", "is not named as its resources can be", None, allowed))
        try:
            raw = path.read_bytes()
            table = tomllib.loads(raw.decode(), parse_float=_decimal)
        except (OSError, ValueError, RecursionError) as error:
            faults.append(Fault(shown_as, "", f"is not readable TOML: {error}"))
            continue
        source = Source(path.relative_to(root).as_posix(), f"sha256:{sha256(raw).hexdigest()}")
        yield _File(path.stem, shown_as, source, table)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        message = f"{shown(text)} is too large a number"
        raise ValueError(message) from None


def _rule_faults(environment_files: list[_File], account_files: list[_File], aliases: set[str]) -> Iterator[Fault]:
    for file in environment_files:
        yield from rules.environment_faults(file.shown_as, file.name, file.table)
    environments = {file.shown_as: file.table for file in environment_files}
    accounts = {file.name: file.table for file in account_files}
    yield from rules.same_name_faults({file.shown_as: file.name for file in environment_files})
    yield from rules.account_alias_faults(environments, aliases)
    yield from rules.clash_faults(environments, accounts)


def _validate_all(files: list[_File], model: type[M], faults: list[Fault]) -> list[M]:
    valid = []
    for file in files:
        try:
            valid.append(model.model_validate(dict(file.table)))
        except ValidationError as error:
            faults.extend(_faults_of(file.shown_as, model, error))
    return valid


def _faults_of(file: str, model: type[BaseModel], error: ValidationError) -> Iterator[Fault]:
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
                known = {key for table in _tables_at(model, location[:-1]) for key in table.model_fields}
                yield Fault(file, path, "is an unknown key", shown(item["input"]), nearest(str(location[-1]), known))
            case "refused":
                yield Fault(file, path, context["problem"], shown(item["input"]), context["allowed"])
            case "union_tag_invalid" | "union_tag_not_found" if isinstance(item["input"], Mapping):
                key = context["discriminator"].strip("'")
                found = shown(item["input"][key]) if key in item["input"] else None
                problem = "is required and missing" if found is None else "is not one of the choices"
                yield Fault(file, f"{path}.{key}", problem, found, _allowed(model, (*location, key)))
            case "literal_error":
                yield Fault(file, path, "is not one of the choices", shown(item["input"]), _allowed(model, location))
            case kind if kind in _WANTED:
                yield Fault(file, path, "is of another type", shown(item["input"]), f"allowed: {_WANTED[kind]}")
            case _:
                yield Fault(file, path, _lower_first(item["msg"]), shown(item["input"]))


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
    yield from extra.get("enum", ()) if isinstance(extra, dict) else ()  # type: ignore[misc]
    for part in (field.annotation, *get_args(field.annotation)):
        yield from map(shown, get_args(part)) if get_origin(part) is Literal else ()


def _fields_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[FieldInfo]:
    tables = _tables_at(model, path[:-1])
    return [table.model_fields[key] for table in tables if (key := str(path[-1])) in table.model_fields]


def _tables_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[type[BaseModel]]:
    """List the kinds of table that may stand at a key path: more than one where a table is a union."""
    if not path:
        return [model]
    if isinstance(path[-1], int):
        return _tables_at(model, path[:-1])
    return [table for field in _fields_at(model, path) for table in _models_in(field.annotation)]


def _is_union(annotation: Any) -> bool:  # noqa: ANN401
    members = [member for member in get_args(annotation) if member is not type(None)]
    return get_origin(annotation) in {Union, UnionType} and len(members) > 1


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models_in(argument)


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]
