"""What a live account shows of the points that no document settles, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from console.doctor.account import Failed, Heard
from console.doctor.first_deploy import document, masked, note, walk
from console.doctor.open_points import POINTS
from tests.console.doctor.healthy import (
    ACCOUNT_ID,
    DECLARED,
    HEALTHY,
    LIVE,
    NOW,
    ROLE,
    milliseconds,
    policy,
    saying,
    statement,
)

DEFAULT = {**LIVE, "logGroupName": DECLARED.default_group}
DENIED = Failed("logs:DescribeLogGroups", "AccessDeniedException")


def shown(account: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, str | None]:
    found = walk(POINTS, replace(DECLARED, **declared), replace(HEALTHY, **account))
    return {one.point.name: one.shown for one in found}


@pytest.mark.parametrize(
    ("name", "account", "declared", "answer"),
    [
        (
            "default-group",
            {},
            {},
            "there is none, 20 d after the runtime was made: it is not made with the runtime",
        ),
        (
            "default-group",
            {"groups": (LIVE, {**DEFAULT, "creationTime": milliseconds(timedelta(days=20))})},
            {},
            "made 5 min after the runtime",
        ),
        ("default-group", {"groups": DENIED}, {}, None),
        ("default-group", {"runtime": DENIED}, {}, None),
        ("group-before-endpoint", {}, {}, "yes: made 1 h before the endpoint, and 2 streams are in it"),
        ("group-before-endpoint", {"streams": ()}, {}, None),
        (
            "group-before-endpoint",
            {"groups": ({**LIVE, "creationTime": milliseconds(timedelta(days=1))},)},
            {},
            "not seen: the group was made 18 d 23 h after the endpoint",
        ),
        ("scoped-right", {}, {}, None),
        ("scoped-right", {}, {"put_resource_policy": "own"}, None),
        ("scoped-right", {"policies": (), "spans": ()}, {"put_resource_policy": "own"}, None),
        (
            "scoped-right",
            {"policies": ()},
            {"put_resource_policy": "own"},
            "yes: the role has it for its own groups alone, no policy of the account lets X-Ray in, and spans arrive",
        ),
        (
            "needless-right",
            {},
            {"put_resource_policy": "none"},
            "yes: the role has no such right, and spans arrive by the account's policy",
        ),
        ("group-policy-slot", {}, {}, "nobody does: no policy stands on the group alone"),
        (
            "group-policy-slot",
            {"group_policies": (policy(saying(statement()), "platform"),)},
            {},
            "platform is there, about X-Ray; the kit writes none there",
        ),
        ("group-policy-slot", {"group_policies": DENIED}, {}, None),
        ("endpoint-versions", {}, {}, None),
        (
            "endpoint-versions",
            {"endpoint": {"liveVersion": "2"}},
            {},
            "DEFAULT serves 4, live 2, the newest is 4",
        ),
        ("endpoint-versions", {"default": DENIED}, {}, None),
        ("shared-group", {}, {}, "it is not there"),
        (
            "shared-group",
            {"shared": ({"logGroupName": "aws/spans", "creationTime": milliseconds(timedelta(days=1))},)},
            {},
            "it is there, since 2026-11-29 03:00 UTC",
        ),
        ("shared-group", {"shared": DENIED}, {}, None),
        (
            "account-retention",
            {"groups": ({**LIVE, "retentionPolicyName": "company"},)},
            {},
            "the account's policy company decides over the group's own retention",
        ),
        (
            "session-baggage",
            {"heard": Heard("w", "s", hits=(), arrived=True)},
            {},
            "yes: the span of the canary's invocation carries the session's id",
        ),
        ("session-baggage", {"heard": Heard("w", "s", hits=())}, {}, None),
    ],
)
def test_an_account_shows_what_it_can(
    name: str, account: Mapping[str, Any], declared: Mapping[str, Any], answer: str | None
) -> None:
    """And nothing where an answer is missing, or would not follow from it."""
    assert shown(account, declared)[name] == answer


def test_every_point_says_how_to_find_out() -> None:
    """A question each, names that tell them apart."""
    assert len({point.name for point in POINTS}) == len(POINTS)
    assert all(point.asks.endswith("?") and point.by_hand for point in POINTS)


def test_no_account_s_number_is_in_what_is_pasted() -> None:
    """Its own, another's, and within an ARN; timestamps and hexadecimal ids are no account's numbers."""
    stranger = f"{ROLE} and arn:aws:iam::999988887777:role/x"
    account = replace(HEALTHY, group_policies=(policy(saying(statement()), stranger),))
    points = walk(POINTS, DECLARED, account)

    for text in (note(points, DECLARED, NOW), str(document(points, DECLARED))):
        assert ACCOUNT_ID not in text
        assert "999988887777" not in text
        assert "arn:aws:iam::<account>:role/x" in text
    assert masked("1793923200000000000", DECLARED) == "1793923200000000000"


def test_what_is_settled_comes_first() -> None:
    """The rest keeps the order of a deployment."""
    states = [one.shown is None for one in walk(POINTS, DECLARED, HEALTHY)]

    assert states == sorted(states)
    assert True in states
    assert False in states
