"""Lay out what the same workload costs elsewhere, and write it as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from cost_model.alternatives import HELD, Alternative, Answer
from cost_model.render.document import Remarks, Row, Section, Table
from cost_model.render.figures import joined, money, quantity
from cost_model.render.json_values import CURRENCY, cents_or_none, dumped, plain_or_none
from cost_model.workload import Workload

BESIDE: Final = "other vendors' prices are in no total and under no ceiling; the same traffic is not the same result"


def alternatives_sections(found: Sequence[Alternative], workload: Workload, model_calls: Decimal) -> Iterator[Section]:
    """Lay out one table, then what each plan does not do and where its price comes from."""
    sessions = "sessions not stated" if workload.sessions is None else f"{quantity(workload.sessions)} sessions"
    yield Section(
        f"The same workload elsewhere, USD a month: {sessions}",
        Table(
            ("Product", "Plan", "Units", "Unit", "Month", "Kept", "Confidence"),
            tuple(map(_row, found)),
            frozenset({0, 1, 3, 6}),
            dispensable=(3, 2),
        ),
        (
            Remarks("What it does not do", tuple(f"{_name(each)}: {each.lacks}" for each in found)),
            Remarks("Assumptions", _assumptions(model_calls)),
            Remarks(
                "Sources", tuple(f"{each.as_of}  {_name(each)} ({each.confidence}): {each.source}" for each in found)
            ),
            Remarks("Notes", (BESIDE, *(each.note for each in found if each.note))),
        ),
    )


def alternatives_json(found: Sequence[Alternative], model_calls: Decimal) -> str:
    """Return `{"currency", "alternatives": [...], "assumptions"}`; null depends on usage or on infrastructure."""
    document = {
        "currency": CURRENCY,
        "alternatives": [
            {
                "product": each.product,
                "plan": each.plan,
                "unit": each.unit,
                "units": plain_or_none(each.units),
                "answer": each.answer,
                "usd_low": cents_or_none(each.usd_low),
                "usd_high": cents_or_none(each.usd_high),
                "retention": each.retention,
                "lacks": each.lacks,
                "as_of": each.as_of.isoformat(),
                "source": each.source,
                "confidence": each.confidence,
                "note": each.note,
            }
            for each in found
        ],
        "assumptions": [*_assumptions(model_calls), BESIDE],
    }
    return dumped(document)


def _row(each: Alternative) -> Row:
    units = "" if each.units is None else quantity(each.units)
    return Row((each.product, each.plan, units, each.unit, _month(each), each.retention, each.confidence))


def _month(each: Alternative) -> str:
    if each.answer is not Answer.PRICED or each.usd_low is None or each.usd_high is None:
        return each.answer
    if each.usd_low == each.usd_high:
        return money(each.usd_low)
    return f"{money(each.usd_low)} to {money(each.usd_high)}"


def _name(each: Alternative) -> str:
    return joined((each.product, each.plan))


def _assumptions(model_calls: Decimal) -> tuple[str, ...]:
    return (
        "one session is one trace",
        f"a session makes {model_calls.normalize():f} model calls; state others with --model-calls",
        f"where GB are charged, they are those of regime {HELD}: the product holds the texts itself",
    )
