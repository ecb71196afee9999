"""Say what an estimate gives reason to do: each rule with its threshold and where that comes from.

Rules look lines up by key and stay silent where one is missing or depends on usage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from agent_image.contract import Regime
from cost_model.deployment import LogClass
from cost_model.estimate import Estimate
from cost_model.meters.queries import ASSUMED_SKIP_RATIO, INDEX_ENTRY_DAYS, part_of
from cost_model.money import known_sum
from cost_model.query_classes import QueryClass
from cost_model.regimes import Comparison
from cost_model.render.figures import money, percentage, quantity

_SIZED: Final = ("storage", "masking", "queries", "dashboard_queries")
"""Keys of the lines that bytes move, beside those of ingestion."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Hold one piece of advice: a stable code, a sentence, when it is given, and where that comes from."""

    code: str
    text: str
    threshold: str
    source: str


@dataclass(frozen=True, slots=True)
class Rule:
    """State one rule: its bound, what the bound is in words with {bound} in it, and what it says of an estimate."""

    code: str
    bound: Decimal
    threshold: str
    source: str
    says: Callable[[Estimate, Decimal], str | None]


def advice(estimate: Estimate) -> tuple[Advice, ...]:
    """Return what an estimate gives reason to do, in the order of the rules."""
    return tuple(_advised(estimate))


def comparison_advice(comparison: Comparison) -> tuple[Advice, ...]:
    """Return what the dearest regime gives reason to do, and how content stands to archive."""
    estimates = comparison.estimates
    dearest = max(estimates.values(), key=lambda each: _trail(each) or Decimal(0))
    found = [each for each in advice(dearest) if each.code != CONTENT.code]
    archive, content = _trail(estimates[Regime.ARCHIVE]), _trail(estimates[Regime.CONTENT])
    if archive is not None and content is not None:
        said = f"content costs {_known(estimates[Regime.CONTENT], content)} USD where archive costs "
        found.append(_given(CONTENT, f"{said}{_known(estimates[Regime.ARCHIVE], archive)}"))
    return tuple(found)


def _advised(estimate: Estimate) -> Iterator[Advice]:
    for rule in RULES:
        text = rule.says(estimate, rule.bound)
        if text is not None:
            yield _given(rule, text)


def _given(rule: Rule, text: str) -> Advice:
    return Advice(rule.code, text, rule.threshold.format(bound=quantity(rule.bound)), rule.source)


def _few_sessions(estimate: Estimate, bound: Decimal) -> str | None:
    sessions, total = estimate.scenario.workload.sessions, _trail(estimate)
    if sessions is None or total is None or sessions >= bound:
        return None
    return (
        f"with {quantity(sessions)} sessions a month the trail costs little ({money(total)} USD), and the attention of "
        "those who read it does not: choose the regime by what has to be proved"
    )


def _dashboard(estimate: Estimate, bound: Decimal) -> str | None:
    lines = _amounts(estimate)
    dearest = max(lines.values(), default=Decimal(0))
    refreshed = lines.get("dashboard_queries")
    if refreshed and refreshed == dearest:
        return f"dashboards on log queries are the dearest line ({money(refreshed)} USD a month): {_INSTEAD}"
    if not dearest or lines.get("queries") != dearest:
        return None
    query, amount = max(_classes(estimate), key=lambda pair: pair[1])
    if query.indexed or query.runs_per_month < bound:
        return None
    runs = quantity(query.runs_per_month)
    return f"queries {query.name!r} run {runs} times a month, as a dashboard does ({money(amount)} USD): {_INSTEAD}"


_INSTEAD: Final = (
    "a metric filter, or a scheduled query that rolls up, feeds the same chart without a scan by each viewer"
)


def _retention(estimate: Estimate, bound: Decimal) -> str | None:
    kept = estimate.scenario.deployment.retention_days
    if kept is not None and kept <= bound:
        return None
    held = "for ever" if kept is None else f"{quantity(kept)} days"
    return (
        f"events are kept {held}, and what an index knows of them {quantity(bound)} days: a look-up further back scans "
        "everything"
    )


def _index_or_size(estimate: Estimate, bound: Decimal) -> str | None:
    lines, total = _amounts(estimate), _trail(estimate)
    indexing, sized = lines.get("indexing"), known_sum(lines.get(key) for key in _sized(lines))
    if indexing is None or not sized or not total or max(indexing, sized) * 100 < total * bound:
        return None
    mover, other = ("indexing", _BYTES) if indexing > sized else (_sized_by(estimate), "indexing")
    most, least = max(indexing, sized), min(indexing, sized)
    return f"{mover} moves this trail, not {other}: {money(most)} USD against {money(least)}, of {money(total)}"


_BYTES: Final = "span size"


def _sized_by(estimate: Estimate) -> str:
    """Name the bytes that most of the trail is: spans, with the content split off them, or all other lines."""
    scenario = estimate.scenario
    spans, held = known_sum((scenario.span_gb, scenario.split_gb)), scenario.trail_gb
    return _BYTES if spans is None or held is None or spans * 2 >= held else "what is written beside spans"


def _guard(estimate: Estimate, _: Decimal) -> str | None:
    guard, trail = known_sum(line.monthly for line in estimate.guard_lines), _trail(estimate)
    if not guard or trail is None or guard <= trail:
        return None
    dearest = max(estimate.guard_lines, key=lambda line: line.monthly or Decimal(0))
    return (
        f"the guard's records cost more than the trail: {money(guard)} USD against {money(trail)}, most of it "
        f"{dearest.label} ({money(dearest.monthly or Decimal(0))}); no capture regime changes that"
    )


def _masking(estimate: Estimate, bound: Decimal) -> str | None:
    amount, total = _amounts(estimate).get("masking"), _trail(estimate)
    if not amount or not total or amount * 100 < total * bound:
        return None
    return (
        f"masking is {percentage(amount, total)} of the trail ({money(amount)} USD): it scans each byte that comes in, "
        "so only fewer bytes make it cheaper, not fewer identifiers"
    )


def _content(estimate: Estimate, _: Decimal) -> str | None:
    if estimate.scenario.deployment.regime is not Regime.CONTENT:
        return None
    sizes = estimate.scenario.workload.kb_per_session
    content, address = sizes.get(Regime.CONTENT), sizes.get(Regime.ADDRESS)
    if content is None or address is None:
        return "content puts every text into each session's spans; archive keeps each passage once, beside the trail"
    return (
        f"content leaves {quantity(content)} KB of spans a session, address and archive {quantity(address)}: archive "
        "keeps each passage once, beside the trail"
    )


def _infrequent(estimate: Estimate, _: Decimal) -> str | None:
    if estimate.scenario.deployment.log_class is not LogClass.INFREQUENT_ACCESS:
        return None
    return (
        "a group of class INFREQUENT_ACCESS has no field index and no filterIndex: opening one session scans its window"
    )


def _unindexed(estimate: Estimate, bound: Decimal) -> str | None:
    total = _trail(estimate)
    if not total or estimate.scenario.deployment.log_class is not LogClass.STANDARD:
        return None
    worth = [
        (query, amount)
        for query, amount in _classes(estimate)
        if not query.indexed and not query.skip_ratio and amount * 100 >= total * bound
    ]
    if not worth:
        return None
    named = "; ".join(
        f"{query.name!r} {money(amount)} USD, {money(_if_indexed(estimate, query))} indexed" for query, amount in worth
    )
    return f"queries that scan their whole window, where a filter on an indexed field skips most of it: {named}"


def _if_indexed(estimate: Estimate, query: QueryClass) -> Decimal:
    """Price a class as if it filtered on an indexed field, at the skip ratio that is assumed of one."""
    part = part_of(estimate.scenario, replace(query, indexed=True, skip_ratio=ASSUMED_SKIP_RATIO))
    row = next(line.row for line in estimate.lines if line.key == "queries")
    return Decimal(0) if part.quantity is None else row.charge(part.quantity)


def _amounts(estimate: Estimate) -> dict[str, Decimal]:
    """Return what is known of the trail's lines; what the guard's records cost has a rule of its own."""
    return {line.key: line.monthly for line in estimate.trail_lines if line.monthly is not None}


def _trail(estimate: Estimate) -> Decimal | None:
    return known_sum(_amounts(estimate).values())


def _known(estimate: Estimate, trail: Decimal) -> str:
    """Show what a trail costs, and where a line of it depends on usage, that it is more."""
    least = "at least " if any(line.monthly is None for line in estimate.trail_lines) else ""
    return f"{least}{money(trail)}"


def _sized(keys: Iterable[str]) -> Iterator[str]:
    return (key for key in keys if key in _SIZED or key.endswith("_ingestion"))


def _classes(estimate: Estimate) -> list[tuple[QueryClass, Decimal]]:
    """Pair the stated classes with what each costs, where that is known."""
    parts = (part for line in estimate.lines if line.key == "queries" for part in line.parts)
    amounts = {part.label: part.monthly for part in parts}
    pairs = ((query, amounts.get(query.name)) for query in estimate.scenario.workload.queries or ())
    return [(query, amount) for query, amount in pairs if amount is not None]


_INDEX_PAGE: Final = "CloudWatch Logs documentation on field indexes"
CONTENT: Final = Rule(
    "content-or-archive", Decimal(0), "regime content", "the sizes of a session, stated or measured", _content
)
RULES: Final = (
    Rule(
        "few-sessions", Decimal(50_000), "fewer than {bound} sessions a month",
        "the reference article: below that a bill of a few dollars", _few_sessions,
    ),
    Rule(
        "dashboard-on-queries", Decimal(720), "the dearest line is a dashboard's, or of {bound} runs a month or more",
        "each refresh is a query of its own; hourly is 720 a month", _dashboard,
    ),
    Rule("unindexed-queries", Decimal(10), "{bound} % of the trail or more", _INDEX_PAGE, _unindexed),
    Rule("retention-over-index", INDEX_ENTRY_DAYS, "kept for more than {bound} days", _INDEX_PAGE, _retention),
    Rule(
        "infrequent-access", Decimal(0), "class INFREQUENT_ACCESS", "CloudWatch Logs documentation on log classes",
        _infrequent,
    ),
    CONTENT,
    Rule("masking-share", Decimal(10), "{bound} % of the trail or more", "the priced lines of this estimate", _masking),
    Rule(
        "guard-over-trail", Decimal(0), "the guard's records cost more than the trail",
        "the priced lines of this estimate", _guard,
    ),
    Rule(
        "index-or-size", Decimal(25), "one of them is {bound} % of the trail or more",
        "the priced lines of this estimate", _index_or_size,
    ),
)  # fmt: skip
"""In the order in which they are said."""
