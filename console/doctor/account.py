"""Hold what an account answered, as plain data: checks compare it and ask nothing themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

Found = Mapping[str, Any]
"""One answer of AWS, or one thing of a list that it gave, with the keys of its API."""

_DENIED: Final = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "NotAuthorized"})
_MISSING: Final = frozenset({"ResourceNotFoundException", "NoSuchEntity", "NotFoundException"})


@dataclass(frozen=True, slots=True)
class Failed:
    """Say that AWS did not answer a question.

    Attributes:
        action: the right that it takes, as IAM names it.
        code: AWS's error code, or the kind of failure on the way there.
    """

    action: str
    code: str

    @property
    def denied(self) -> bool:
        """Tell whether the caller may not ask."""
        return self.code in _DENIED

    @property
    def missing(self) -> bool:
        """Tell whether what was asked about is not there."""
        return self.code in _MISSING

    @property
    def says(self) -> str:
        """Say so in a sentence."""
        if self.denied:
            return f"the caller may not ask: {self.action} was denied"
        if self.missing:
            return f"what {self.action} asks about is not there ({self.code})"
        return f"{self.action} was not answered ({self.code})"


@dataclass(frozen=True, slots=True)
class Ruled:
    """Hold what IAM's simulator says of one action of the agent's role.

    Attributes:
        decision: allowed, explicitDeny or implicitDeny.
        by_organisation: whether policies of the organisation let it; None where there is none.
        by_boundary: whether the role's permissions boundary lets it; None where there is none.
    """

    decision: str
    by_organisation: bool | None = None
    by_boundary: bool | None = None


@dataclass(frozen=True, slots=True)
class RolePolicies:
    """Hold the documents of a role's policies, where IAM's simulator may not be asked."""

    documents: tuple[str, ...]
    boundary: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """Hold what came of a canary.

    Attributes:
        word: what was spoken.
        session_id: the session that it was spoken in.
        failed: why the question had no answer; None where it had one.
        arrived: whether a span of that session came in time.
        waited_seconds: how long that was waited for.
        hits: streams that hold the word, one for each event; None where they could not be searched.
        search: why they could not.
    """

    word: str
    session_id: str
    failed: str | None = None
    arrived: bool = False
    waited_seconds: int = 0
    hits: tuple[str, ...] | None = None
    search: Failed | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """Hold every answer; `Failed` stands where one did not come.

    Attributes:
        asked_at: when, in UTC.
        identity: who asks (GetCallerIdentity).
        destination: where X-Ray stores spans (GetTraceSegmentDestination).
        indexing: X-Ray's indexing rules (GetIndexingRules).
        policies: the account's resource policies of CloudWatch Logs (DescribeResourcePolicies).
        group_policies: those that stand on the live group alone.
        groups: the runtime's log groups (DescribeLogGroups).
        shared: the groups whose names begin with `aws/spans`.
        masking: the live group's masking policy (GetDataProtectionPolicy).
        index: the live group's index policies (DescribeIndexPolicies).
        spans: streams of the live group that are named `spans` (DescribeLogStreams).
        streams: its streams that were written to last.
        astray: whether spans of this agent lie in `aws/spans`; None where that was not looked at.
        runtime: the runtime (GetAgentRuntime).
        endpoint: its endpoint `live` (GetAgentRuntimeEndpoint).
        default: its endpoint `DEFAULT`.
        traffic: sums of a week of DEFAULT's group, by metric (GetMetricData).
        role: whether the agent's role may change resource policies.
        query: whether the caller may query the live group (StartQuery).
        heard: what came of the canary; None where none was asked for.
    """

    asked_at: datetime
    identity: Found | Failed
    destination: Found | Failed
    indexing: tuple[Found, ...] | Failed
    policies: tuple[Found, ...] | Failed
    group_policies: tuple[Found, ...] | Failed
    groups: tuple[Found, ...] | Failed
    shared: tuple[Found, ...] | Failed
    masking: Found | Failed
    index: tuple[Found, ...] | Failed
    spans: tuple[Found, ...] | Failed
    streams: tuple[Found, ...] | Failed
    astray: bool | Failed | None
    runtime: Found | Failed
    endpoint: Found | Failed
    default: Found | Failed
    traffic: Mapping[str, float] | Failed
    role: Ruled | RolePolicies | Failed
    query: Found | Failed
    heard: Heard | None = None

    def group(self, name: str) -> Found | Failed | None:
        """Find one of the runtime's log groups; None where there is none of that name."""
        if isinstance(self.groups, Failed):
            return self.groups
        return next((group for group in self.groups if group.get("logGroupName") == name), None)
