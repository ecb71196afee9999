"""Check what no single value can tell: rules across the keys of a file, and across files.

The rules read the raw tables, so that they speak even where another value of the same file is at fault.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from stacks.partition import REGION_PATTERN, partition_of
from stacks.settings.fault import Fault, nearest, shown
from stacks.settings.model import Session

Table = Mapping[str, Any]
DISPOSABLE_ENVIRONMENT: Final = "dev"
"""The environment whose trail is deleted on destroy unless its file says keep."""


def on_destroy(name: str, declared: str | None) -> str:
    """Settle what becomes of the trail: what the file says, else delete in `dev` and keep anywhere else."""
    return declared or ("delete" if name == DISPOSABLE_ENVIRONMENT else "keep")


def look_up(table: Table, path: str) -> Any:
    """Find a value by its dotted key path, or None where any part of it is missing."""
    value: Any = table
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _content_needs_masking(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    if look_up(table, "observability.capture") != "content":
        return
    if not _masks(look_up(table, "observability.masking")):
        yield (
            "observability.masking",
            "capture = content puts texts into the trail, and nothing masks them",
            ("list identifiers or patterns, or choose metadata, address or archive"),
        )
    if not look_up(table, "observability.content_reason"):
        yield (
            "observability.content_reason",
            "capture = content needs a written reason, and there is none",
            ("say why texts must be in the trail, or choose metadata, address or archive"),
        )


def _kept_environment_needs_digest(name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    image = look_up(table, "agent.image")
    if not isinstance(image, str) or image.startswith("sha256:"):
        return
    if on_destroy(name, look_up(table, "on_destroy")) == "keep":
        yield (
            "agent.image",
            "is a tag, which may point elsewhere tomorrow",
            ('write the digest (sha256:…); a tag is allowed only where on_destroy = "delete"'),
        )


def _idle_within_lifetime(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    idle = _seconds(table, "idle_timeout_seconds")
    life = _seconds(table, "max_lifetime_seconds")
    if idle is not None and life is not None and idle > life:
        problem = f"{idle} seconds are longer than max_lifetime_seconds"
        yield "agent.session.idle_timeout_seconds", problem, f"allowed: at most {life}"


def _seconds(table: Table, key: str) -> Decimal | None:
    """Give a time of the session, the default if the file names none, or None where the value is no number."""
    value = look_up(table, f"agent.session.{key}")
    if value is None:
        return Decimal(Session.model_fields[key].default)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value) if Decimal(value).is_finite() else None


def _boundary_needs_own_making(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    if look_up(table, "role.arn") and look_up(table, "role.permissions_boundary_arn"):
        yield (
            "role.permissions_boundary_arn",
            "bounds the role that is made, and role.arn says that none is",
            ("set one of the two"),
        )


def _jwt_names_someone(_name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    auth = look_up(table, "auth")
    if isinstance(auth, Mapping) and auth.get("type") == "JWT" and not (auth.get("audiences") or auth.get("clients")):
        yield "auth.audiences", "every token of the provider would be let in", "list audiences or clients"


def _lock_needs_keep(name: str, table: Table) -> Iterator[tuple[str, str, str | None]]:
    if look_up(table, "observability.audit_object_lock_days") is None:
        return
    if on_destroy(name, look_up(table, "on_destroy")) == "delete":
        yield (
            "observability.audit_object_lock_days",
            "locks objects that on_destroy = delete must be able to delete",
            ('set on_destroy = "keep", or leave the lock out'),
        )


ENVIRONMENT_RULES: Final[tuple[Callable[[str, Table], Iterator[tuple[str, str, str | None]]], ...]] = (
    _content_needs_masking,
    _kept_environment_needs_digest,
    _idle_within_lifetime,
    _boundary_needs_own_making,
    _jwt_names_someone,
    _lock_needs_keep,
)


def environment_faults(file: str, name: str, table: Table) -> Iterator[Fault]:
    """Apply the rules that stay within one environment file."""
    for rule in ENVIRONMENT_RULES:
        for path, problem, allowed in rule(name, table):
            found = look_up(table, path)
            value = None if found is None or isinstance(found, Mapping | list) else shown(found)
            yield Fault(file, path, problem, value, allowed)


def expression_faults(file: str, table: Table) -> Iterator[Fault]:
    """Refuse texts that Terraform would read as expressions: settings are text, in the stack as in the file."""
    for path, text in _texts(table):
        if "${" in text or "%{" in text:
            problem = "holds ${ or %{, which Terraform reads as an expression"
            yield Fault(file, path, problem, shown(text), "write it without")


def _texts(table: Table) -> Iterator[tuple[str, str]]:
    # Without recursion: a file may nest deeper than Python's stack.
    open_: list[tuple[str, object]] = [("", table)]
    while open_:
        place, value = open_.pop()
        if isinstance(value, str):
            yield place.lstrip("."), value
        elif isinstance(value, Mapping):
            open_ += [(f"{place}.{key}", item) for key, item in value.items()]
        elif isinstance(value, list):
            open_ += [(f"{place}.{position}", item) for position, item in enumerate(value)]


def account_alias_faults(environments: Mapping[str, Table], aliases: Collection[str]) -> Iterator[Fault]:
    """Refuse an environment whose account file does not exist; a file that cannot be read exists."""
    for file, table in environments.items():
        alias = table.get("account")
        if isinstance(alias, str) and alias not in aliases:
            known = nearest(alias, aliases) if aliases else "there is no file in accounts/"
            yield Fault(file, "account", "no account file has this alias", shown(alias), known)


def account_faults(environments: Mapping[str, Table], accounts: Mapping[str, Table]) -> Iterator[Fault]:
    """Check an environment against the account it is deployed to: whose ARNs it names, and what masks the rest."""
    for file, table in environments.items():
        alias = table.get("account")
        account = accounts.get(alias) if isinstance(alias, str) else None
        if account is not None:
            yield from _foreign_arns(file, table, account)
            yield from _unmasked_default(file, table, str(alias), account)


# Key path -> whether the ARN must be of the environment's account, and of its Region. A key may be another account's,
# and an inference profile routes to models of other Regions, but a model of another account cannot be invoked.
_ARNS: Final = {
    "agent.models": (True, False),
    "role.arn": (True, False),
    "role.permissions_boundary_arn": (True, False),
    "observability.kms_key_arn": (False, True),
}


def _foreign_arns(file: str, table: Table, account: Table) -> Iterator[Fault]:
    for path, (own_account, own_region) in _ARNS.items():
        found = look_up(table, path)
        for position, arn in enumerate(found) if isinstance(found, list) else [(None, found)]:
            place = path if position is None else f"{path}.{position}"
            yield from _foreign_arn(file, place, arn, account, own_account=own_account, own_region=own_region)


def _foreign_arn(
    file: str, place: str, arn: object, account: Table, *, own_account: bool, own_region: bool
) -> Iterator[Fault]:
    parts = arn.split(":", 5) if isinstance(arn, str) else []
    if len(parts) != _ARN_PARTS:
        return
    _, partition, _, region, account_id, _ = parts
    own_id, home = account.get("account_id"), account.get("region")
    # Where the account file itself is at fault, its own fault says enough.
    if (
        own_account
        and isinstance(own_id, str)
        and _ACCOUNT_ID.fullmatch(own_id)
        and account_id not in {"", "aws", own_id}
    ):
        allowed = f"allowed: account {own_id}, which the account file names"
        yield Fault(file, place, "belongs to another account", shown(arn), allowed)
    if not (isinstance(home, str) and re.fullmatch(REGION_PATTERN, home)):
        return
    if partition != partition_of(home).name:
        allowed = f"allowed: arn:{partition_of(home).name}:…, as in {home}"
        yield Fault(file, place, "belongs to another partition", shown(arn), allowed)
    elif own_region and region != home:
        yield Fault(file, place, "is in another Region", shown(arn), f"allowed: {home}")


def account_key_faults(file: str, account: Table) -> Iterator[Fault]:
    """Refuse a key that the account's image repository could not use."""
    key = account.get("kms_key_arn")
    yield from _foreign_arn(file, "kms_key_arn", key, account, own_account=False, own_region=True)


_ARN_PARTS: Final = 6
_ACCOUNT_ID: Final = re.compile(r"[0-9]{12}", re.ASCII)


def _unmasked_default(file: str, table: Table, alias: str, account: Table) -> Iterator[Fault]:
    if look_up(table, "auth.type") != "JWT" or not _masks(look_up(table, "observability.masking")):
        return
    if not (_masks(account.get("masking")) or account.get("masking_managed_elsewhere") is True):
        problem = "callers with tokens may also name the DEFAULT endpoint, and nothing masks its log group"
        allowed = f"list identifiers or patterns under [masking] of accounts/{alias}.toml, or say there that "
        yield Fault(file, "auth.type", problem, '"JWT"', allowed + "masking_managed_elsewhere = true")


def _masks(masking: object) -> bool:
    return isinstance(masking, Mapping) and bool(masking.get("identifiers") or masking.get("patterns"))


def clash_faults(environments: Mapping[str, Table], accounts: Mapping[str, Table]) -> Iterator[Fault]:
    """Refuse two environments that would fight over one runtime name."""
    seen: defaultdict[tuple[Any, Any, Any], list[str]] = defaultdict(list)
    for file, table in environments.items():
        alias = table.get("account")
        account = accounts.get(alias, {}) if isinstance(alias, str) else {}
        key = (account.get("account_id"), account.get("region"), look_up(table, "agent.name"))
        if all(isinstance(part, str) for part in key):
            seen[key].append(file)
    for (account_id, region, name), files in seen.items():
        for file in files[1:]:
            yield Fault(
                file,
                "agent.name",
                f"{files[0]} has this agent name too, in the same account ({account_id}) and Region ({region})",
                shown(name),
                "give each environment its own",
            )


def account_masking_faults(file: str, account: Table) -> Iterator[Fault]:
    """Refuse to declare account-level masking that somebody else is said to manage: an account takes one policy."""
    if account.get("masking_managed_elsewhere") is True and _masks(account.get("masking")):
        problem = "is declared here, and masking_managed_elsewhere says that it is not"
        yield Fault(file, "masking", problem, None, "keep one of the two")


def shared_account_faults(accounts: Mapping[str, Table]) -> Iterator[Fault]:
    """Refuse two account files for one account and Region: their stacks would fight over the same singletons."""
    seen: dict[tuple[str, str], str] = {}
    for file, table in accounts.items():
        account_id, region = table.get("account_id"), table.get("region")
        if isinstance(account_id, str) and isinstance(region, str):
            first = seen.setdefault((account_id, region), file)
            if first != file:
                problem = f"{first} describes this account and Region ({region}) too"
                yield Fault(file, "account_id", problem, shown(account_id), "keep one of the two files")


def same_name_faults(files: Mapping[str, str]) -> Iterator[Fault]:
    """Refuse two environment files whose names differ in letter case alone: they would name the same resources."""
    seen: dict[str, str] = {}
    for file, name in files.items():
        first = seen.setdefault(name.casefold(), file)
        if first != file:
            yield Fault(file, "", f"names the same environment as {first}", None, "rename one of the two files")
