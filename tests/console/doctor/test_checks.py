"""Each fault that can be planted in an account is found by one check, and by no other."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Regime
from console.doctor.account import Account, Failed, Heard, RolePolicies, Ruled
from console.doctor.arrival import needs_search
from console.doctor.check import Checked, State, examine
from console.doctor.checks import CHECKS
from console.doctor.declared import Declared
from console.doctor.policy_text import matches
from console.doctor.resource_policy import wanted_policy
from stacks.names import Place
from stacks.policies.statement import document
from stacks.policies.xray import statements
from tests.console.doctor.healthy import (
    ACCOUNT_ID,
    DECLARED,
    GROUP,
    HEALTHY,
    INDEX,
    OUTPUT,
    POLICY,
    REGION,
    policy,
    saying,
    statement,
    stream,
)
from tests.console.doctor.planted import DENIED, DENY, FAULTS, FIVE, HOUR, LOGS_ARN, XRAY_ARN, Planted, heard

EMPTY = ({"logStreamName": "spans"}, {"logStreamName": "just made"})
WORDS = (
    *("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "Condition", "Service", "AWS"),
    *("Allow", "Deny", "ArnLike", "aws:SourceArn", "Statement", "Operation", "Deidentify", "MaskConfig"),
    *("DataIdentifier", "Configuration", "CustomDataIdentifier", "Name", "Regex", "Fields", "FieldsV2"),
)


def checked(account: Account = HEALTHY, declared: Declared = DECLARED) -> dict[str, Checked]:
    return {one.check.name: one for one in examine(CHECKS, declared, account)}


def states(found: Mapping[str, Checked], *wanted: State) -> set[str]:
    return {name for name, one in found.items() if one.result.state in wanted}


def written(one: Checked) -> str:
    result = one.result
    return "\n".join((result.says, *result.found, *result.wanted, *result.mend, *result.commands))


def test_nothing_is_wrong_with_a_healthy_account() -> None:
    """Fifteen looks, and only the canary was not asked for."""
    found = checked()

    assert states(found, State.FAULT, State.WARNING, State.UNKNOWN) == set()
    assert states(found, State.SKIPPED) == {"canary"}
    assert len(found) == len(CHECKS) == len({check.name for check in CHECKS})


USUAL = ("widely copied example", "it has to be ArnLike", "lets other accounts in", "the organisation", "boundary")


@pytest.mark.parametrize("planted", FAULTS, ids=lambda planted: planted.name)
def test_a_planted_fault_is_found_and_no_other(planted: Planted) -> None:
    """By its check, with the value found, the value wanted and how to mend it; every other check stays quiet."""
    found = checked(replace(HEALTHY, **planted.account), replace(DECLARED, **(planted.declared or {})))

    assert states(found, planted.state) - planted.also == {planted.check}
    assert states(found, State.FAULT, State.WARNING) - planted.also == {planted.check}
    one = found[planted.check]
    assert [text for text in planted.says if text not in written(one)] == []
    # A mistake is named as the usual one only where it is.
    assert [text for text in USUAL if text in written(one) and text not in " ".join(planted.says)] == []
    assert one.result.found
    assert one.result.wanted
    assert one.result.mend


UNKNOWNS = [
    *(
        pytest.param({name: Failed("logs:Any", DENIED)}, {}, {check}, id=f"{name} denied")
        for name, check in (
            ("destination", "transaction-search"),
            ("indexing", "indexing"),
            ("group_policies", "xray-policy"),
            ("masking", "masking"),
            ("index", "index"),
            ("spans", "spans"),
            ("streams", "spans"),
            ("role", "role"),
            ("endpoint", "endpoint"),
            ("runtime", "endpoint"),
            ("traffic", "default-traffic"),
        )
    ),
    pytest.param({"policies": Failed("a:B", DENIED)}, {}, {"xray-policy", "policy-quota"}, id="policies denied"),
    pytest.param(
        {"groups": Failed("a:B", DENIED)}, {}, {"group", "retention", "encryption", "masking", "index"}, id="groups"
    ),
    pytest.param({"identity": Failed("sts:GetCallerIdentity", "EndpointConnectionError")}, {}, {"caller"}, id="sts"),
    pytest.param({"spans": (), "streams": ()}, {}, {"spans"}, id="nobody called yet"),
    pytest.param(
        {"spans": (stream("spans", 90 * HOUR),), "streams": (stream("out", 91 * HOUR),)}, {}, {"spans"}, id="quiet"
    ),
    pytest.param(
        {"destination": {"Destination": "CloudWatchLogs", "Status": "ODD"}}, {}, {"transaction-search"}, id="odd"
    ),
    pytest.param({"indexing": ()}, {}, {"indexing"}, id="no rule"),
    pytest.param({}, {"indexing_percentage": None, "manages_search": None}, {"indexing"}, id="old: indexing"),
    pytest.param({}, {"masking": None}, {"masking"}, id="old: masking"),
    pytest.param({}, {"kms_key_arn": None}, {"encryption"}, id="old: key"),
    pytest.param({}, {"live_version": None}, {"endpoint"}, id="old: version"),
    pytest.param({}, {"indexed_fields": None}, {"index"}, id="old: fields"),
    pytest.param({}, {"retention_days": None}, {"retention"}, id="old: retention"),
    pytest.param(
        {"policies": (policy(saying(statement(Condition={"Bool": {"aws:SecureTransport": "true"}}))),)},
        {},
        {"xray-policy"},
        id="a condition that nobody here judges",
    ),
    *(
        pytest.param({"policies": (policy(saying(statement(Condition=condition))),)}, {}, {"xray-policy"}, id=name)
        for name, condition in (
            ("a key that nobody here knows", {"StringEquals": {"aws:PrincipalOrgID": "o-1"}}),
            ("an operator that nobody here knows", {"NumericEquals": {"aws:SourceAccount": "5", "aws:SourceArn": "5"}}),
        )
    ),
    pytest.param(heard(arrived=False), {}, {"canary"}, id="no span came"),
    pytest.param({"heard": Heard("w", "s", failed="throttled")}, {}, {"canary"}, id="no answer"),
    pytest.param(
        {"heard": Heard("w", "s", search=Failed("logs:FilterLogEvents", DENIED))}, {}, {"canary"}, id="unsearched"
    ),
    pytest.param({"role": RolePolicies(("{",))}, {}, {"role"}, id="a role's policy that is none"),
]


@pytest.mark.parametrize(("account", "declared", "wanted"), UNKNOWNS)
def test_what_could_not_be_looked_at_is_never_ok(
    account: Mapping[str, Any], declared: Mapping[str, Any], wanted: set[str]
) -> None:
    """A right that is lacking, a document that is older than the check, a silence: unknown, and no fault."""
    found = checked(replace(HEALTHY, **account), replace(DECLARED, **declared))

    assert states(found, State.UNKNOWN) == wanted
    assert states(found, State.FAULT) == set()


def test_each_right_that_is_lacking_is_named() -> None:
    """As AWS refused it; what other policies grant is told apart."""
    denied: dict[str, Any] = {
        field.name: Failed(f"a:{field.name}", DENIED)
        for field in fields(Account)
        if field.name not in {"asked_at", "identity", "heard", "astray"}
    }
    caller = checked(replace(HEALTHY, **denied))["caller"].result

    assert caller.state is State.WARNING
    assert caller.found == tuple(sorted(f"a:{name} is denied" for name in denied if name != "query"))
    assert "rastro-prod-doctor" in caller.mend[0]
    assert "to read the trail it lacks logs:StartQuery" in caller.says


def test_a_caller_who_may_only_look_is_no_warning() -> None:
    """Reading the trail is another policy's; who lacks it is told so."""
    caller = checked(replace(HEALTHY, query=Failed("logs:StartQuery", DENIED)))["caller"].result

    assert caller.state is State.OK
    assert "to read the trail it lacks logs:StartQuery (policy `investigator`)" in caller.says


@pytest.mark.parametrize(
    ("documents", "boundary", "state"),
    [
        ([("Allow", "logs:PutResourcePolicy", "*")], None, State.OK),
        ([("Allow", "logs:Put*", f"arn:aws:logs:*:*:log-group:{GROUP[:-4]}*")], None, State.OK),
        ([("Allow", "logs:PutLogEvents", "*")], None, State.FAULT),
        ([("Allow", "*", "arn:aws:s3:::b")], None, State.FAULT),
        ([("Allow", "*", "*"), ("Deny", "logs:putresourcepolicy", "*")], None, State.FAULT),
        ([("Allow", "*", "*")], ("Allow", "logs:*", "*"), State.OK),
        ([("Allow", "*", "*")], ("Allow", "s3:*", "*"), State.FAULT),
        ([("Allow", "logs:PutLogEvents", "*")], ("Allow", "*", "*"), State.FAULT),
        ([("Allow", "*", "*", "aws:RequestedRegion")], None, State.UNKNOWN),
        ([("Allow", "*", "*", "aws:RequestedRegion"), ("Allow", "logs:*", "*")], None, State.OK),
        ([("Allow", "*", "*"), ("Deny", "*", "*", "aws:RequestedRegion")], None, State.UNKNOWN),
        ([("Allow", "*", "*", "aws:RequestedRegion")], ("Allow", "*", "*"), State.UNKNOWN),
        ([("Allow", "*", "*")], ("Allow", "*", "*", "aws:RequestedRegion"), State.UNKNOWN),
        ([], None, State.FAULT),
    ],
)
def test_a_role_is_weighed_by_its_own_policies_where_the_simulator_may_not_be_asked(
    documents: list[tuple[str, ...]], boundary: tuple[str, ...] | None, state: State
) -> None:
    """Grants, denials and the boundary, as IAM weighs them; what a condition decides is not known."""

    def text(effect: str, action: str, resource: str, *keys: str) -> str:
        conditions = {"Condition": {"StringEquals": dict.fromkeys(keys, "x")}} if keys else {}
        return json.dumps(saying({"Effect": effect, "Action": action, "Resource": resource, **conditions}))

    held = RolePolicies(tuple(text(*one) for one in documents), text(*boundary) if boundary else None)

    assert checked(replace(HEALTHY, role=held))["role"].result.state is state


def test_two_statements_may_let_in_what_one_does_not() -> None:
    """One for each action, in two policies."""
    split = (
        policy(saying(statement(Action="logs:PutLogEvents")), "one"),
        policy(saying(statement(Action=["logs:Create*"])), "two"),
    )
    found = checked(replace(HEALTHY, policies=split))

    assert found["xray-policy"].result.state is State.OK
    assert "one, " in found["xray-policy"].result.says
    assert "two, " in found["xray-policy"].result.says


@pytest.mark.parametrize(
    "condition",
    [
        {
            "ArnLikeIfExists": {"AWS:SOURCEARN": XRAY_ARN},
            "StringEqualsIfExists": {"aws:sourceaccount": [ACCOUNT_ID, "9"]},
        },
        {"ArnEquals": {"aws:SourceArn": [LOGS_ARN, XRAY_ARN]}, "StringLike": {"aws:SourceAccount": "11112222*"}},
        {
            "ForAnyValue:StringLike": {"aws:SourceArn": f"arn:aws:xray:*:{ACCOUNT_ID}:*"},
            "StringEquals": {"aws:SourceAccount": ACCOUNT_ID},
        },
    ],
)
def test_a_condition_may_be_written_in_another_way(condition: Mapping[str, Any]) -> None:
    """Operators that take patterns, several values, keys in any case."""
    found = checked(replace(HEALTHY, policies=(policy(saying(statement(Condition=condition))),)))

    assert found["xray-policy"].result.state is State.OK


@pytest.mark.parametrize(
    "harmless",
    [
        saying({**DENY, "Condition": {"StringNotEquals": {"aws:SourceAccount": ACCOUNT_ID}}}),
        saying({**DENY, "Resource": "arn:aws:logs:*:*:log-group:/other/*"}),
        saying({**DENY, "Action": "logs:DeleteLogGroup"}),
        saying({**DENY, "Principal": {"Service": "es.amazonaws.com"}}),
        saying(statement(Condition={"ArnLike": {"aws:SourceArn": LOGS_ARN}})),
    ],
)
def test_what_bears_on_nothing_of_ours_is_no_fault(harmless: Mapping[str, Any]) -> None:
    """A denial of others, of another group, of another action, of another service; a dead grant beside a live one."""
    found = checked(replace(HEALTHY, policies=(POLICY, policy(harmless, "beside"))))

    assert found["xray-policy"].result.state is State.OK


def test_spans_that_go_elsewhere_are_not_looked_for_in_cloudwatch() -> None:
    """The checks of X-Ray are skipped and say where spans go; group, mask and endpoint are looked at all the same."""
    elsewhere = replace(DECLARED, destination="https://otel.example.com")
    found = checked(replace(HEALTHY, policies=(), spans=(), destination={"Destination": "XRay"}), elsewhere)

    assert states(found, State.FAULT, State.WARNING, State.UNKNOWN) == set()
    assert states(found, State.SKIPPED) == {
        *("transaction-search", "indexing", "xray-policy", "policy-quota", "role", "spans", "canary")
    }
    assert "https://otel.example.com" in found["spans"].result.says


@pytest.mark.parametrize(
    ("account", "declared"),
    [
        (heard(), {}),
        (heard("spans"), {"regime": Regime.CONTENT}),
        (heard(), {"destination": "https://otel.example.com"}),
        ({"role": Ruled("implicitDeny")}, {"put_resource_policy": "none"}),
        ({"masking": {}}, {"masking": frozenset()}),
        ({"indexing": (FIVE,)}, {"indexing_percentage": Decimal(5)}),
        ({}, {"live_version": "4"}),
        ({"index": ({**INDEX, "source": "ACCOUNT"},)}, {}),
        ({"runtime": Failed("bedrock-agentcore:GetAgentRuntime", "ThrottlingException")}, {"live_version": "4"}),
        ({"endpoint": {"status": "READY", "liveVersion": "4"}}, {}),
        ({"spans": (stream("spans", 3 * HOUR),), "streams": (stream("out", 0 * HOUR),)}, {}),
        ({"spans": (stream("spans", 24 * HOUR),), "streams": (stream("out", 24 * HOUR),)}, {}),
        ({"streams": (*EMPTY, OUTPUT), "spans": (*EMPTY, stream("spans", HOUR))}, {}),
        ({"spans": (stream("spans", 2 * HOUR),), "streams": (stream("spans", 2 * HOUR), OUTPUT)}, {}),
        ({"index": ({"policyDocument": '{"FieldsV2":{"name":{},"attributes.rag.index_version":{}}}'},)}, {}),
    ],
)
def test_what_is_as_declared_is_no_fault(account: Mapping[str, Any], declared: Mapping[str, Any]) -> None:
    """Also where what was declared is unusual."""
    found = checked(replace(HEALTHY, **account), replace(DECLARED, **declared))

    assert states(found, State.FAULT, State.WARNING, State.UNKNOWN) == set()


@pytest.mark.parametrize(
    ("spans", "output", "wanted"),
    [
        ((), (), True),
        ((stream("spans", 3 * HOUR),), (stream("out", 0 * HOUR),), False),
        ((stream("spans", 4 * HOUR),), (stream("out", 0 * HOUR),), True),
        ((stream("spans", 90 * HOUR),), (), False),
        (Failed("logs:DescribeLogStreams", DENIED), (stream("out", HOUR),), False),
    ],
)
def test_the_shared_group_is_searched_where_spans_are_missing(spans: Any, output: Any, *, wanted: bool) -> None:
    """And not where they arrive, where nobody calls, or where it is not known."""
    assert needs_search(replace(HEALTHY, spans=spans, streams=output)) is wanted


def test_the_policy_that_mends_is_the_one_that_the_account_s_stack_writes() -> None:
    """To the letter; and the command that writes it is one command of a shell."""
    found = checked(replace(HEALTHY, policies=()))["xray-policy"].result

    assert wanted_policy(DECLARED) == document(statements(Place(ACCOUNT_ID, REGION)))
    words = shlex.split(found.commands[0])
    assert json.loads(words[words.index("--policy-document") + 1]) == wanted_policy(DECLARED)


def test_the_worst_comes_first() -> None:
    """Faults, warnings, what is not known, what was skipped, what is right."""
    account = replace(
        HEALTHY,
        endpoint={"status": "UPDATING"},
        role=Ruled("implicitDeny"),
        traffic=Failed("cloudwatch:GetMetricData", DENIED),
    )
    order = [one.result.state for one in examine(CHECKS, DECLARED, account)]

    assert order == sorted(order, key=[*State].index)
    assert order[0] is State.FAULT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)


@given(
    JSON | st.dictionaries(st.just("Statement"), st.lists(st.dictionaries(st.sampled_from(WORDS), JSON)), min_size=1)
)
def test_no_document_keeps_the_others_from_being_looked_at(found: object) -> None:
    """Whatever somebody wrote into a policy, a mask, an index or a role: each check has a result."""
    text = json.dumps(found)
    account = replace(
        HEALTHY,
        policies=(policy(text),),
        group_policies=(policy(text, resourceArn=GROUP),),
        masking={"policyDocument": text},
        index=({"policyDocument": text},),
        role=RolePolicies((text,), text),
    )

    assert len(checked(account)) == len(CHECKS)


@given(st.text("ab*?", max_size=9), st.text("ab", max_size=9))
def test_a_pattern_matches_as_a_pattern_of_iam_does(pattern: str, text: str) -> None:
    """Against the plainest definition there is."""

    def plainly(left: str, right: str) -> bool:
        if not left:
            return not right
        if left[0] == "*":
            return any(plainly(left[1:], right[at:]) for at in range(len(right) + 1))
        return bool(right) and left[0] in {"?", right[0]} and plainly(left[1:], right[1:])

    assert matches(pattern, text) == plainly(pattern, text)


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    """It comes from the account: 5,120 characters of whatever somebody wrote."""
    assert not matches("a*" * 2_560 + "b", "a" * 2_000)
