"""Check what no single file can tell: rules across the settings files, on their raw tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from stacks.partition import REGION_PATTERN, partition_of
from stacks.settings.fault import Fault, nearest, shown
from stacks.settings.rules import Table, look_up, masks


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
            yield from _unbounded_role(file, table, str(alias), account)


# Key path -> whether the ARN must be of the environment's account, and of its Region. A key may be another account's,
# and an inference profile routes to models of other Regions, but a model of another account cannot be invoked.
_ARNS: Final = {
    "agent.models": (True, False),
    "role.arn": (True, False),
    "role.permissions_boundary_arn": (True, False),
    "observability.kms_key_arn": (False, True),
    "observability.destination_headers_secret_arn": (True, True),
    "guard.webhook_secret_arn": (True, True),
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
    """Refuse a key that the account's image repository could not use, and a boundary of another account."""
    key = account.get("kms_key_arn")
    yield from _foreign_arn(file, "kms_key_arn", key, account, own_account=False, own_region=True)
    path = "pipeline.permissions_boundary_arn"
    yield from _foreign_arn(file, path, look_up(account, path), account, own_account=True, own_region=False)


_ARN_PARTS: Final = 6
_ACCOUNT_ID: Final = re.compile(r"[0-9]{12}", re.ASCII)


def _unmasked_default(file: str, table: Table, alias: str, account: Table) -> Iterator[Fault]:
    if look_up(table, "auth.type") != "JWT" or not masks(look_up(table, "observability.masking")):
        return
    if not (masks(account.get("masking")) or account.get("masking_managed_elsewhere") is True):
        problem = "callers with tokens may also name the DEFAULT endpoint, and nothing masks its log group"
        allowed = f"list identifiers or patterns under [masking] of accounts/{alias}.toml, or say there that "
        yield Fault(file, "auth.type", problem, '"JWT"', allowed + "masking_managed_elsewhere = true")


def _unbounded_role(file: str, table: Table, alias: str, account: Table) -> Iterator[Fault]:
    """Refuse a role that the account's pipeline would be refused: it makes none without its boundary."""
    boundary, found = look_up(account, "pipeline.permissions_boundary_arn"), look_up(table, _BOUNDARY)
    if isinstance(boundary, str) and found != boundary and look_up(table, "role.arn") is None:
        problem = f"the pipeline of accounts/{alias}.toml makes roles with its own boundary alone"
        yield Fault(file, _BOUNDARY, problem, None if found is None else shown(found), f"allowed: {boundary}")


_BOUNDARY: Final = "role.permissions_boundary_arn"


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


def promotion_faults(shown_as: Mapping[str, str], accounts: Mapping[str, Table]) -> Iterator[Fault]:
    """Refuse an account that is to read images and has no file, or has the images already."""
    for alias, table in accounts.items():
        targets = table.get("promotes_to")
        for position, target in enumerate(targets if isinstance(targets, list) else ()):
            path = f"promotes_to.{position}"
            if target == alias:
                yield Fault(shown_as[alias], path, "is this account itself", shown(target), "leave it out")
            elif isinstance(target, str) and target not in accounts:
                yield Fault(
                    shown_as[alias], path, "no account file has this alias", shown(target), nearest(target, accounts)
                )


def shared_provider_faults(accounts: Mapping[str, Table]) -> Iterator[Fault]:
    """Refuse two account files that declare GitHub's identity provider: an account has one, whatever the Region."""
    seen: dict[str, str] = {}
    for file, table in accounts.items():
        account_id, pipeline = table.get("account_id"), table.get("pipeline")
        if isinstance(account_id, str) and isinstance(pipeline, Mapping) and pipeline.get("create_provider", True):
            first = seen.setdefault(account_id, file)
            if first != file:
                problem = f"{first} declares the identity provider of account {account_id} too, and there is one"
                yield Fault(file, "pipeline.create_provider", problem, None, "write false in one of the two files")


def same_name_faults(files: Mapping[str, str]) -> Iterator[Fault]:
    """Refuse two environment files whose names differ in letter case alone: they would name the same resources."""
    seen: dict[str, str] = {}
    for file, name in files.items():
        first = seen.setdefault(name.casefold(), file)
        if first != file:
            yield Fault(file, "", f"names the same environment as {first}", None, "rename one of the two files")
