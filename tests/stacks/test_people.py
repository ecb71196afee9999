"""The policies for people, each the least that its work needs."""

from __future__ import annotations

from tests.synthesis import Json, Stack, Synthesis, by_sid, policy

PEOPLE = ("invoker", "investigator", "reader", "auditor", "approver", "doctor", "eraser", "break-glass")


def of(stack: Stack, person: str) -> dict[str, Json]:
    return by_sid(policy(stack.resources("aws_iam_policy")[person]["policy"]))


def allowed(found: dict[str, Json]) -> set[str]:
    return {action for s in found.values() if s["Effect"] == "Allow" for action in s["Action"]}


def test_there_is_a_policy_for_each_kind_of_person(shipped: Synthesis) -> None:
    """Named after the environment."""
    found = shipped["agent-prod"].resources("aws_iam_policy")

    assert {name: resource["name"] for name, resource in found.items()} == {
        person: f"rastro-prod-{person}" for person in PEOPLE
    }


def test_invokers_reach_the_live_endpoint_and_never_default(shipped: Synthesis) -> None:
    """DEFAULT writes to a group that is neither masked nor kept as declared."""
    runtime = "${aws_bedrockagentcore_agent_runtime.runtime.agent_runtime_arn}"
    for person in ("invoker", "approver"):
        found = of(shipped["agent-prod"], person)
        assert found["InvokeLive"]["Resource"] == [runtime, f"{runtime}/runtime-endpoint/live"]
        assert found["NeverDefault"]["Effect"] == "Deny"
        assert found["NeverDefault"]["Resource"] == [f"{runtime}/runtime-endpoint/DEFAULT"]


def test_investigators_query_and_see_neither_clear_text_nor_passages(shipped: Synthesis) -> None:
    """Unmasking is denied outright; passages are simply not theirs."""
    found = of(shipped["agent-prod"], "investigator")

    assert "logs:StartQuery" in allowed(found)
    assert found["NeverUnmask"]["Effect"] == "Deny"
    assert "s3:GetObject" not in allowed(found)
    assert not [action for action in allowed(found) if action.startswith("dynamodb:")]
    assert found["ReadIndexVersion"]["Resource"] == ["arn:aws:bedrock:us-east-1:444455556666:knowledge-base/PRODKB0001"]
    assert found["QueryTrail"]["Resource"][0] == (
        "arn:aws:logs:us-east-1:444455556666:log-group:/aws/bedrock-agentcore/runtimes/handbook_prod-*-live"
    )


def test_readers_read_passages_and_nothing_else_of_the_archive(shipped: Synthesis) -> None:
    """Settings objects lie in the same bucket and stay closed."""
    found = of(shipped["agent-prod"], "reader")

    assert found["ReadPassages"]["Resource"] == ["arn:aws:s3:::rastro-prod-archive-444455556666-us-east-1/passages/*"]
    assert not [action for action in allowed(found) if action.startswith("logs:")]


def test_approvers_write_decisions_and_nothing_else(shipped: Synthesis) -> None:
    """A decision is an item of its own, and its event an object; a checkpoint cannot be changed by its approver."""
    found = of(shipped["agent-prod"], "approver")
    writes = [s for s in found.values() if "dynamodb:PutItem" in s["Action"]]

    assert [s["Condition"] for s in writes] == [
        {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": "decision#*"},
            "Null": {"dynamodb:LeadingKeys": "false"},
        }
    ]
    assert not {"dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:Scan"} & allowed(found)
    assert [s["Resource"] for s in found.values() if "s3:PutObject" in s["Action"]] == [
        ["arn:aws:s3:::rastro-prod-audit-444455556666-us-east-1/audit/decisions/*"]
    ]


def test_auditors_read_and_change_nothing(shipped: Synthesis) -> None:
    """They read the audit and where its chains end; what was said in a session is denied outright."""
    found = of(shipped["agent-prod"], "auditor")

    assert allowed(found) == {
        *("ssm:GetParameter", "s3:ListBucket", "s3:GetObject", "dynamodb:GetItem", "dynamodb:BatchGetItem"),
    }
    assert found["ReadAudit"]["Resource"] == ["arn:aws:s3:::rastro-prod-audit-444455556666-us-east-1/audit/*"]
    assert found["NeverReadConversations"]["Effect"] == "Deny"
    assert found["NeverReadConversations"]["Condition"] == {
        "ForAnyValue:StringLike": {"dynamodb:LeadingKeys": "session#*#*"}
    }


def test_erasers_rewrite_what_the_agent_writes_and_nothing_that_people_say(shipped: Synthesis) -> None:
    """Passages, long state, parts of sessions; a decision is none of them, and the audit takes their events alone."""
    found = of(shipped["agent-prod"], "eraser")
    archive, audit = (f"arn:aws:s3:::rastro-prod-{name}-444455556666-us-east-1" for name in ("archive", "audit"))

    assert {sid: s["Condition"]["ForAllValues:StringLike"] for sid, s in found.items() if puts_items(s)} == {
        "MarkErased": {"dynamodb:LeadingKeys": "fingerprint#*"},
        "RewriteSessions": {"dynamodb:LeadingKeys": ["session#*", "checkpoint#*"]},
    }
    assert {arn for s in found.values() if "s3:PutObject" in s["Action"] for arn in s["Resource"]} == {
        *(f"{archive}/passages/*", f"{archive}/state/*", f"{audit}/audit/erasures/*"),
    }


def puts_items(statement: Json) -> bool:
    return "dynamodb:PutItem" in statement["Action"]


def test_only_break_glass_unmasks(shipped: Synthesis) -> None:
    """One policy, for a role of its own."""
    unmasking = [
        person
        for person in shipped["agent-prod"].resources("aws_iam_policy")
        if "logs:Unmask" in allowed(of(shipped["agent-prod"], person))
    ]

    assert unmasking == ["break-glass"]


def test_whoever_works_with_what_was_said_is_denied_unmasking(shipped: Synthesis) -> None:
    """Outright: a right that something else grants does not count. Who only calls or decides reads no trail at all."""
    denied = {
        person
        for person in shipped["agent-prod"].resources("aws_iam_policy")
        for statement in of(shipped["agent-prod"], person).values()
        if statement["Effect"] == "Deny" and "logs:Unmask" in statement["Action"]
    }

    assert denied == {*PEOPLE} - {"invoker", "approver", "break-glass"}


def test_managed_policies_fit_their_limit(shipped: Synthesis, variants: Synthesis) -> None:
    """AWS counts 6,144 characters of a managed policy; an id that is not yet known takes less than its reference."""
    for stack in [*shipped.agents, *variants.agents]:
        for managed in stack.resources("aws_iam_policy").values():
            assert len(managed["policy"]) <= 6_144


def test_a_key_is_used_through_services_alone_and_readers_only_decrypt(variants: Synthesis) -> None:
    """Nobody needs the key itself, and who only reads makes no data keys."""
    stack = variants["agent-locked"]
    services = ("s3", "dynamodb", "sns", "secretsmanager")
    hosts = [f"{service}.us-gov-west-1.amazonaws.com" for service in services]
    agent = by_sid(policy(stack.resources("aws_iam_role_policy")["role-policy"]["policy"]))["UseTrailKey"]

    assert agent["Condition"] == {"StringEquals": {"kms:ViaService": hosts}}
    for person, actions in {
        "reader": ["kms:Decrypt"],
        "auditor": ["kms:Decrypt"],
        "approver": ["kms:Decrypt", "kms:GenerateDataKey"],
        "eraser": ["kms:Decrypt", "kms:GenerateDataKey"],
        "break-glass": ["kms:Decrypt"],
    }.items():
        grant = of(stack, person)["UseTrailKey"]
        assert grant["Action"] == actions
        assert grant["Condition"] == {"StringEquals": {"kms:ViaService": hosts[:2]}}
