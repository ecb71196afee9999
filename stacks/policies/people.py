"""State what people may do: a managed policy for each kind of person, to attach to roles that people already have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_image.contract import LIVE_ENDPOINT
from stacks.policies import doctor
from stacks.policies import kept_rights as kept
from stacks.policies import trail_rights as trail
from stacks.policies.ground import Ground
from stacks.policies.statement import Statement


@dataclass(frozen=True, slots=True)
class PersonPolicy:
    """Name one kind of person, say who that is, and list the statements."""

    person: str
    description: str
    statements: tuple[Statement, ...]


def policies(ground: Ground) -> tuple[PersonPolicy, ...]:
    """List the kinds of people, from the least to the most."""
    return (
        PersonPolicy("invoker", "Calls the agent through its live endpoint.", tuple(_invoke(ground))),
        PersonPolicy(
            "investigator",
            "Queries the trail: masked text only, and no passages.",
            (
                *trail.discover(ground),
                *trail.query(ground),
                *trail.watch(ground),
                *trail.read_index_version(ground),
                *trail.never_unmask(ground),
            ),
        ),
        PersonPolicy(
            "reader",
            "Reads archived passages.",
            (
                *trail.discover(ground),
                *kept.passages(ground),
                *trail.never_unmask(ground),
                *kept.use_key(ground, "Decrypt"),
            ),
        ),
        # Not the investigator: the audit holds texts, if redacted, where the trail holds none. Not break-glass alone:
        # checking the audit is a routine, and an alarm that rings every morning is heard by nobody.
        PersonPolicy(
            "auditor",
            "Reads and verifies the audit, and changes nothing.",
            (
                *trail.discover(ground),
                *kept.audit(ground),
                *kept.anchors(ground),
                *trail.never_unmask(ground),
                *kept.use_key(ground, "Decrypt"),
            ),
        ),
        PersonPolicy(
            "approver",
            "Reads checkpoints, writes decisions, and resumes what was approved.",
            (
                *trail.discover(ground),
                *kept.decide(ground),
                *_invoke(ground),
                *kept.use_key(ground, "Decrypt", "GenerateDataKey"),
            ),
        ),
        PersonPolicy(
            "doctor",
            "Checks that the trail is in force: reads how it is set up, and no event of it.",
            (*trail.discover(ground), *doctor.examine(ground, ground.role_arn), *trail.never_unmask(ground)),
        ),
        # The trail tells which sessions were reading a passage: whoever may not ask it leaves copies behind.
        PersonPolicy(
            "eraser",
            "Erases passages for good, wherever they are kept.",
            (
                *trail.discover(ground),
                *trail.query(ground),
                *kept.passages(ground),
                *kept.erase(ground),
                *trail.never_unmask(ground),
                *kept.use_key(ground, "Decrypt", "GenerateDataKey"),
            ),
        ),
        PersonPolicy(
            "break-glass",
            "Reads everything in clear. Give it a role of its own, assumed in an incident, with an alarm on its use.",
            (
                *trail.discover(ground),
                *trail.query(ground),
                *trail.watch(ground),
                *trail.unmask(ground),
                *trail.read_index_version(ground),
                *kept.passages(ground),
                *kept.audit(ground),
                *kept.state(ground),
                *kept.use_key(ground, "Decrypt"),
            ),
        ),
    )


def _invoke(ground: Ground) -> Iterator[Statement]:
    action = ("bedrock-agentcore:InvokeAgentRuntime",)
    yield Statement(
        sid="InvokeLive",
        why="A call is authorised against the runtime and the endpoint, so both are named.",
        actions=action,
        resources=(ground.runtime_arn, f"{ground.runtime_arn}/runtime-endpoint/{LIVE_ENDPOINT}"),
    )
    yield Statement(
        sid="NeverDefault",
        why="The service's own DEFAULT endpoint writes to a group that is neither masked nor kept as declared.",
        effect="Deny",
        actions=action,
        resources=(f"{ground.runtime_arn}/runtime-endpoint/DEFAULT",),
    )
