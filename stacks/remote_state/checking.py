"""Check, before Terraform opens it, that the bucket of an account's state is there, and that none lies elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from stacks.remote_state.place import RemoteState, is_bootstrapped, local_file, remote_state
from stacks.settings.load import AccountSettings

_FORBIDDEN: Final = frozenset({"403", "AccessDenied"})
_MISSING: Final = frozenset({"404", "NoSuchBucket"})


def state_problems(account: AccountSettings, stacks: Iterable[str], project: Path) -> Iterator[str]:
    """Say what keeps an account's state from being used: its bucket first, then files that were not moved into it."""
    remote = remote_state(account)
    if remote is None:
        return
    yield from _bucket_problems(account, remote)
    for stack in stacks:
        path = project / local_file(stack)
        if path.is_file() and _holds_something(path.read_text()):
            yield (
                f"{path.name}: holds the state of {stack}, and environments/{account.source.file} puts it into "
                f"s3://{remote.bucket}; `make move-state ACCOUNT={account.alias}` moves it"
            )


def bootstrap_problems(account: AccountSettings) -> Iterator[str]:
    """Say if there is no bucket for `make bootstrap` to make."""
    if not is_bootstrapped(account):
        file = f"environments/{account.source.file}"
        if remote_state(account) is None:
            yield f'{file}: state.backend = "local": there is no bucket to make; write "s3" first'
        else:
            yield f"{file}: state.bucket: names a bucket of your own; leave it out, and one is made"


def bucket_exists(remote: RemoteState) -> bool:
    """Tell whether the bucket is there; credentials that may not see it, or none at all, count as not."""
    return _asked(remote) is None


def _bucket_problems(account: AccountSettings, remote: RemoteState) -> Iterator[str]:
    place, asked = f"s3://{remote.bucket}", _asked(remote)
    if asked is None:
        return
    code, said = asked
    ours = is_bootstrapped(account)
    if code in _MISSING and ours:
        yield f"{place}: is not there yet; `make bootstrap ACCOUNT={account.alias}` makes it"
    elif code in _MISSING:
        yield f"{place}: is not there; make it, or leave state.bucket out of environments/{account.source.file}"
    elif code in _FORBIDDEN:
        owner = f", or is not account {remote.account_id}'s" if ours else ""
        yield f"{place}: may not be opened with these credentials{owner}; take those of {account.declared.account_id}"
    else:
        yield f"{place}: {said}"


def _asked(remote: RemoteState) -> tuple[str, str] | None:
    """Ask for the bucket: None where it is there, else AWS's code and words."""
    # Only here: boto3 takes longer to import than the other commands take to run.
    import boto3  # noqa: PLC0415 - see above
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see above

    owner: dict[str, Any] = {} if remote.account_id is None else {"ExpectedBucketOwner": remote.account_id}
    try:
        boto3.client("s3", region_name=remote.region).head_bucket(Bucket=remote.bucket, **owner)
    except ClientError as error:
        return str(error.response.get("Error", {}).get("Code")), str(error)
    except BotoCoreError as error:
        return "", str(error)
    return None


def _holds_something(state: str) -> bool:
    """Tell whether a state file holds resources; one that cannot be read may."""
    try:
        found = json.loads(state)
    except ValueError:
        return True
    return bool(found.get("resources")) if isinstance(found, dict) else True
