"""Read every settings file, and give either frozen settings or every fault of every file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from stacks.settings import across, rules
from stacks.settings.alarm_rules import alarm_faults
from stacks.settings.explain import explain
from stacks.settings.fault import Fault, SettingsError, shown
from stacks.settings.guard_rules import guard_faults
from stacks.settings.hook_rules import IMAGE, hook_faults
from stacks.settings.model import Account, Environment

_ENVIRONMENT_NAME: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,14}[a-z0-9])?")
M = TypeVar("M", bound=BaseModel)
_ACCOUNT_NAME: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Source:
    """Name the file that settings came from, relative to the settings folder and for people, and digest its bytes."""

    file: str
    shown_as: str
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
    source: Source
    table: Mapping[str, Any]

    @property
    def shown_as(self) -> str:
        return self.source.shown_as


def load(folder: Path, image: Path = IMAGE) -> Settings:
    """Read `<folder>/accounts/*.toml` and `<folder>/*.toml`; hook files that they name are in the image's folder.

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
    faults.extend(_rule_faults(environment_files, account_files, aliases, image))
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
        source = Source(path.relative_to(root).as_posix(), shown_as, f"sha256:{sha256(raw).hexdigest()}")
        yield _File(path.stem, source, table)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        message = f"{shown(text)} is too large a number"
        raise ValueError(message) from None


def _rule_faults(
    environment_files: list[_File], account_files: list[_File], aliases: set[str], image: Path
) -> Iterator[Fault]:
    for file in (*environment_files, *account_files):
        yield from rules.expression_faults(file.shown_as, file.table)
    for file in environment_files:
        yield from rules.environment_faults(file.shown_as, file.name, file.table)
        yield from guard_faults(file.shown_as, file.table)
        yield from hook_faults(file.shown_as, file.table, image)
        yield from alarm_faults(file.shown_as, file.table)
    environments = {file.shown_as: file.table for file in environment_files}
    accounts = {file.name: file.table for file in account_files}
    yield from across.shared_account_faults({file.shown_as: file.table for file in account_files})
    yield from across.shared_provider_faults({file.shown_as: file.table for file in account_files})
    yield from across.promotion_faults({file.name: file.shown_as for file in account_files}, accounts)
    yield from across.same_name_faults({file.shown_as: file.name for file in environment_files})
    yield from across.account_alias_faults(environments, aliases)
    for file in account_files:
        yield from across.account_key_faults(file.shown_as, file.table)
        yield from rules.account_masking_faults(file.shown_as, file.table)
        yield from rules.account_state_faults(file.shown_as, file.table)
        yield from rules.account_pipeline_faults(file.shown_as, file.table)
    yield from across.account_faults(environments, accounts)
    yield from across.clash_faults(environments, accounts)


def _validate_all(files: list[_File], model: type[M], faults: list[Fault]) -> list[M]:
    valid = []
    for file in files:
        try:
            valid.append(model.model_validate(dict(file.table)))
        except ValidationError as error:
            faults.extend(explain(file.shown_as, model, error))
    return valid
