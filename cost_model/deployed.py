"""Read from synthesised stacks what an environment's price depends on.

What the stacks do not say becomes a stated assumption; a value that only a deployment settles counts as not said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final, TypeVar

from agent_image.contract import CAPTURE_VARIABLE, RUNTIME_LOG_GROUPS, Quantity, Regime
from cost_model.deployed_pieces import pieces_of
from cost_model.deployment import INDEXING, RETENTION, Deployment, LogClass
from cost_model.errors import SynthesisError
from cost_model.faults import allowed_range, fits, shown
from cost_model.pieces import Pieces
from cost_model.synthesis import Environment
from cost_model.terraform import Block, Stack, number, objects, resources

SHARED_SPANS_GROUP: Final = "aws/spans"
"""Where X-Ray puts the spans of agents that have no destination of their own."""
_OBSERVING: Final = (
    "aws_bedrockagentcore_agent_runtime",
    "aws_cloudwatch_log_group",
    "aws_xray_indexing_rule",
    "aws_xray_trace_segment_destination",
)
_FOR_EVER: Final = (None, Decimal(0))

Found = TypeVar("Found")
Reading = tuple[Found, str | None]
"""A value, and the assumption it rests on where the stacks do not say."""


def read_deployed(environment: Environment, region: str | None = None) -> Deployment:
    """Read an environment's stacks; `region` stands in for one that only a deployment settles."""
    stacks = environment.stacks
    group, group_assumption = _trail_group(stacks)
    regime, regime_assumption = _regime(stacks)
    retention, retention_assumption = _retention(group)
    log_class, class_assumption = _log_class(group)
    said = (_nothing_observed(stacks), regime_assumption, group_assumption, retention_assumption, class_assumption)
    assumptions = (*said, *_schedules(stacks), *_counted_elsewhere(environment))
    return Deployment(
        region=region or _region(environment),
        environment=environment.name,
        regime=regime,
        indexing_percentage=_indexing(stacks),
        retention_days=retention,
        masking=_masking(stacks, group),
        log_class=log_class,
        pieces=pieces_of([stack for stack in stacks if stack.name not in environment.shared]),
        assumptions=tuple(text for text in assumptions if text),
    )


def _nothing_observed(stacks: Sequence[Stack]) -> str | None:
    """Say so where not one stack has anything that a trail is made of."""
    if any(resources(stacks, each) for each in _OBSERVING):
        return None
    return f"no observability is in {', '.join(stack.name for stack in stacks)}: nothing there makes or keeps a trail"


def _schedules(stacks: Sequence[Stack]) -> Iterator[str]:
    """Say what scheduled calls leave unpriced: the book has no row for a schedule, whose first 14 million are free."""
    for schedule in resources(stacks, "aws_scheduler_schedule"):
        rate = schedule.stack.text(schedule.arguments.get("schedule_expression")) or "a rate that is settled later"
        yield (
            f"{schedule.address} calls at {rate}: taken as within the 14 million calls that are free in a month; the"
            " sessions that it opens are in no stated number"
        )


def _counted_elsewhere(environment: Environment) -> Iterator[str]:
    for stack in environment.stacks:
        if stack.name in environment.shared and pieces_of([stack]) != Pieces():
            yield f"what {stack.name} holds is counted once, with {environment.shared[stack.name]}"


def _region(environment: Environment) -> str:
    for stack in environment.stacks:
        for region in stack.provider_regions():
            return region
    message = f"{environment.name}: provider aws names no Region known before a deployment; state it with --region"
    raise SynthesisError(message)


def _trail_group(stacks: Sequence[Stack]) -> Reading[Block | None]:
    groups = resources(stacks, "aws_cloudwatch_log_group")
    trails = [group for group in groups if _holds_spans(group)]
    if not trails and len(groups) == 1:
        return groups[0], f"spans go to the only log group, {groups[0].address}"
    if not trails:
        return (
            None,
            "no log group for spans in the synthesised stacks: they are kept for ever, as CloudWatch does by default",
        )
    if len(trails) == 1:
        return trails[0], None
    longest = max(trails, key=_kept)
    return longest, f"{len(trails)} log groups can hold spans; all are priced as {longest.address}, kept longest"


def _holds_spans(group: Block) -> bool:
    name = group.stack.resolve(group.arguments.get("name"))
    return isinstance(name, str) and (RUNTIME_LOG_GROUPS in name or name == SHARED_SPANS_GROUP)


def _kept(group: Block) -> Decimal:
    days = group.number("retention_in_days")
    return Decimal("Infinity") if days in _FOR_EVER else days or Decimal(0)


def _retention(group: Block | None) -> Reading[Decimal | None]:
    if group is None:
        return None, None
    days = group.number("retention_in_days")
    if days in _FOR_EVER:
        return None, f"{group.address} has no retention known before a deployment: events are kept for ever"
    if days is not None:
        _require(RETENTION, f"{group.address}: retention_in_days", days)
    return days, None


def _log_class(group: Block | None) -> Reading[LogClass]:
    value = None if group is None else group.arguments.get("log_group_class")
    if group is None or value is None:
        return LogClass.STANDARD, None
    name = group.stack.text(value)
    if name in {known.value for known in LogClass}:
        return LogClass(str(name)), None
    if name is None:
        return LogClass.STANDARD, f"{group.address}: its class is settled by the deployment: taken as STANDARD"
    allowed = ", ".join(known.value for known in LogClass)
    message = f"{group.address}: log_group_class {name!r} has no prices here; priced classes: {allowed}"
    raise SynthesisError(message)


def _masking(stacks: Sequence[Stack], group: Block | None) -> bool:
    policies = resources(stacks, "aws_cloudwatch_log_account_policy")
    if any(policy.arguments.get("policy_type") == "DATA_PROTECTION_POLICY" for policy in policies):
        return True
    own = resources(stacks, "aws_cloudwatch_log_data_protection_policy")
    return group is not None and any(_is_of(policy, group) for policy in own)


def _is_of(policy: Block, group: Block) -> bool:
    target = str(policy.arguments.get("log_group_name"))
    return f"{group.address}." in target or target == group.arguments.get("name")


def _indexing(stacks: Sequence[Stack]) -> Decimal | None:
    percentage = _agreed(
        number(rule.stack.resolve(probabilistic.get("desired_sampling_percentage")))
        for rule in resources(stacks, "aws_xray_indexing_rule")
        for outer in objects(rule.arguments.get("rule"))
        for probabilistic in objects(outer.get("probabilistic"))
    )
    if percentage is not None:
        _require(INDEXING, "aws_xray_indexing_rule: desired_sampling_percentage", percentage)
    return percentage


def _regime(stacks: Sequence[Stack]) -> Reading[Regime | None]:
    value = _agreed(
        runtime.stack.text(variables.get(CAPTURE_VARIABLE))
        for runtime in resources(stacks, "aws_bedrockagentcore_agent_runtime")
        for variables in objects(runtime.arguments.get("environment_variables"))
    )
    if value is None:
        return (
            None,
            f"the synthesised stacks do not state one capture regime ({CAPTURE_VARIABLE}): span bytes are unknown",
        )
    if value not in set(Regime):
        message = f"{CAPTURE_VARIABLE}: {value!r} is not a regime; allowed: {', '.join(Regime)}"
        raise SynthesisError(message)
    return Regime(value), None


def _agreed(values: Iterable[Found | None]) -> Found | None:
    """Return the one value that all places state; where they differ or one is silent, it is unknown."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _require(quantity: Quantity, where: str, value: Decimal) -> None:
    if not fits(quantity, value):
        message = f"{where}: {shown(value)} is not allowed; allowed: {allowed_range(quantity)}"
        raise SynthesisError(message)
