"""Let what a session was counted to take of table and audit stand in where nobody stated it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Regime
from agent_image.guard.store import SESSION_KEPT
from benchmarks.agent import sizes_file
from benchmarks.agent.exported import Exported
from benchmarks.agent.records import item_bytes
from benchmarks.agent.sessions import Sizes
from cost_model.errors import SessionSizesError
from cost_model.estimate import estimate
from cost_model.meters.table import ASSUMED_MONTHS
from cost_model.prices import PriceBook
from cost_model.scenario import Scenario
from cost_model.session_sizes import load_session_sizes
from tests.cost_model.conftest import TODAY
from tests.cost_model.golden import close, holding, line, monthly, under

TABLE = ("table_writes_per_session", "table_reads_per_session", "table_kb_per_session")
AUDIT = ("audit_kb_per_session", "audit_objects_per_session")
LEFT = Exported(spans=8, span_bytes=20_480, logs=0, log_bytes=0, lines=1, line_bytes=1024)
counts = st.dictionaries(st.sampled_from([*TABLE, *AUDIT]), st.decimals("0.1", 10**6, places=1))


@given(counts)
def test_what_the_benchmark_counts_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, records: dict[str, Decimal]
) -> None:
    """Each number under its own key; without any the table is left out."""
    path = tmp_path_factory.mktemp("sizes") / "session_sizes.toml"
    regimes = dict.fromkeys(Regime, LEFT)
    sizes_file.write(Sizes(regimes, peer=LEFT, ten_turns=LEFT, records=records), date(2026, 5, 4), path)

    assert load_session_sizes(path).records == records
    assert ("[records]" in path.read_text(encoding="utf-8")) == bool(records)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("table_write = 1", 'records.table_write: unknown key; did you mean "table_writes_per_session"?'),
        (
            "audit_objects_per_session = 0",
            "records.audit_objects_per_session: 0 is not allowed; allowed: a number from",
        ),
    ],
)
def test_counts_that_cannot_be_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """A session that leaves nothing was not measured."""
    path = tmp_path / "session_sizes.toml"
    sizes_file.write(Sizes(dict.fromkeys(Regime, LEFT), peer=LEFT, ten_turns=LEFT), date(2026, 5, 4), path)
    path.write_text(f"{path.read_text(encoding='utf-8')}[records]\n{text}\n", encoding="utf-8")

    with pytest.raises(SessionSizesError) as refusal:
        load_session_sizes(path)
    assert message in str(refusal.value)


@pytest.mark.parametrize(("piece", "keys"), [("table", TABLE), ("audit", AUDIT)])
def test_counts_stand_in_where_they_are_deployed(
    article: Scenario, prices: PriceBook, piece: str, keys: tuple[str, ...]
) -> None:
    """And only there; each is said."""
    there, not_there = (
        estimate(holding(article, **{piece: on}), prices, TODAY, load_session_sizes()) for on in (True, False)
    )

    assert there.unknown == ()
    for key in keys:
        assert any(f"{key} is not stated: taken as" in text for text in there.assumptions)
        assert not any(key in text for text in not_there.assumptions)


def test_a_stated_count_wins(article: Scenario, prices: PriceBook) -> None:
    """A person who has counted knows better."""
    scenario = under(holding(article, table=True), table_writes_per_session=Decimal(10))

    assert monthly(estimate(scenario, prices, TODAY, load_session_sizes()), "table_writes") == Decimal("6.25")


def test_records_that_were_not_counted_stay_unknown(article: Scenario, prices: PriceBook) -> None:
    """An older file has none of them."""
    older = replace(load_session_sizes(), records=MappingProxyType({}))
    found = estimate(holding(article, table=True), prices, TODAY, older)

    assert {each.key for each in found.unknown} == {"table_writes", "table_reads", "table_storage"}


def test_the_guard_s_records_stay_as_long_as_the_guard_says(article: Scenario, prices: PriceBook) -> None:
    """A session's records expire by themselves, and the assumption follows the code that says when."""
    found = line(estimate(holding(article, table=True), prices, TODAY, load_session_sizes()), "table_storage")

    assert timedelta(days=30) * int(ASSUMED_MONTHS) == SESSION_KEPT
    assert found is not None
    assert close(found.monthly, "4.12")  # 17.3 KB of a million sessions, at 0.25


def test_what_the_guard_s_records_cost_of_a_million_sessions(article: Scenario, prices: PriceBook) -> None:
    """About as much as the trail: a conversation is written whole at every step. It is said, not left out."""
    result = estimate(holding(article, table=True, audit=True), prices, TODAY, load_session_sizes())
    shown = {each.key: f"{each.monthly:.2f}" for each in result.lines if each.key.startswith(("table_", "audit_"))}

    assert shown == {
        "table_writes": "38.12",
        "table_reads": "0.56",
        "table_storage": "4.12",
        "audit_storage": "1.74",
        "audit_requests": "5.00",
    }


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({"pk": {"S": "abc"}}, 5),
        ({"pk": {"S": "ação"}}, 8),
        ({"version": {"N": "1"}}, 9),
        ({"expires_at_epoch": {"N": "1798712400"}}, 22),
    ],
)
def test_an_item_is_counted_as_dynamodb_counts_it(item: dict[str, dict[str, str]], size: int) -> None:
    """Names and values: texts in UTF-8, numbers two digits to a byte."""
    assert item_bytes(item) == size
