"""Check that spans arrive in the environment's own log group, and not in the group that all agents share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from console.doctor.account import Account, Failed, Found
from console.doctor.check import Check, Result, could_not, fault, ok, unknown
from console.doctor.command import ask, deploy
from console.doctor.declared import Declared
from console.moments import lasting

STREAM: Final = "spans"
"""The stream of a runtime's group that X-Ray writes spans to."""
SHARED_GROUP: Final = "aws/spans"
"""The group that spans of every agent go to where a runtime sends them to none of its own."""
RECENT: Final = timedelta(days=1)
"""How long ago the last span may be: longer, and nobody seems to call."""
BEHIND: Final = timedelta(hours=3)
"""How far the last span may lie behind the last output line: AWS updates a stream's last time within about an hour."""


def judge(declared: Declared, account: Account) -> Result:
    """Compare when the last span came with when the agent last wrote anything."""
    for answer in (account.spans, account.streams):
        if isinstance(answer, Failed):
            return could_not(answer)
    spans, output = last_span(account), _last(account.streams, spans=False)
    if spans is not None and (output is None or output - spans <= BEHIND):
        return _arriving(declared, account, spans)
    if account.astray is True:
        return fault(
            f"spans of this agent go to {SHARED_GROUP}, which is neither masked nor kept as declared",
            found=(f"spans of {declared.runtime_id} in {SHARED_GROUP}",),
            wanted=(f"stream {STREAM} of {declared.log_group}",),
            mend=(
                f"UNIFIED_TRACES_DESTINATION_ENABLED = true on the runtime: {deploy(declared)}",
                f"aws-opentelemetry-distro 0.18.0 or newer in the image: make image ENV={declared.environment}",
            ),
        )
    if output is None:
        return unknown(
            "nothing was ever written to the group: nobody has called the endpoint yet",
            mend=("ask once",),
            commands=(ask(declared),),
        )
    return fault(
        "the agent writes output, and its spans do not arrive",
        found=(
            f"last output {_ago(account, output)}, last span {_ago(account, spans)}",
            *_not_searched(account),
        ),
        wanted=(f"spans in stream {STREAM} of {declared.log_group} within minutes of the output",),
        mend=("mend the other faults first: transaction-search, xray-policy and role are what keeps spans away",),
        commands=(ask(declared),),
    )


def last_span(account: Account) -> datetime | None:
    """Tell when the last span came into the group, in UTC; None where none did, or nobody says."""
    return None if isinstance(account.spans, Failed) else _last(account.spans, spans=True)


def needs_search(account: Account) -> bool:
    """Tell whether it is worth looking for this agent's spans in the shared group."""
    spans = last_span(account)
    output = _last(account.streams, spans=False)
    return not isinstance(account.spans, Failed) and (spans is None or (output or spans) - spans > BEHIND)


def _arriving(declared: Declared, account: Account, spans: datetime) -> Result:
    if account.asked_at - spans > RECENT:
        return unknown(
            f"the last span came {_ago(account, spans)}, and nothing has been written since: nobody calls the endpoint",
            mend=("ask once, and look again",),
            commands=(ask(declared),),
        )
    return ok(f"the last span came {_ago(account, spans)}, into stream {STREAM} of the live group")


def _not_searched(account: Account) -> Iterator[str]:
    if isinstance(account.astray, Failed):
        yield f"whether they go to {SHARED_GROUP} is not known: {account.astray.says}"


def _last(streams: Iterable[Found] | Failed, *, spans: bool) -> datetime | None:
    if isinstance(streams, Failed):
        return None
    times = [
        int(stream["lastEventTimestamp"])
        for stream in streams
        if (stream.get("logStreamName") == STREAM) is spans and stream.get("lastEventTimestamp") is not None
    ]
    return datetime.fromtimestamp(max(times) / 1000, UTC) if times else None


def _ago(account: Account, moment: datetime | None) -> str:
    if moment is None:
        return "never"
    return f"{lasting(max(account.asked_at - moment, timedelta()))} ago"


CHECK: Final = Check(
    name="spans",
    looks_at=f"when stream `{STREAM}` of the live group was last written to, and when anything else was",
    why="A trail without spans answers no question, and the agent works as if nothing were wrong.",
    run=judge,
    of_cloudwatch=True,
)
