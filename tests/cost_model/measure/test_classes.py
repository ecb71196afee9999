"""Turn a history of queries into classes: shapes of texts, and figures that price what was read."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_image.contract import Regime
from cost_model.deployment import Deployment
from cost_model.measure.classes import MOST_CLASSES, classes_of
from cost_model.measure.history import Ran
from cost_model.measure.query_shape import Shape, shape_of
from cost_model.meters.queries import INDEX_ENTRY_DAYS, part_of
from cost_model.money import gigabytes
from cost_model.scenario import Scenario
from cost_model.workload import Workload

AT = datetime(2026, 11, 1, tzinfo=UTC)
A_DAY = Decimal(1_000_000)
SESSION = "attributes.session.id"


@pytest.mark.parametrize(
    ("text", "indexed", "fields"),
    [
        ("fields @message | filterIndex traceId = 'a'", True, ("traceId",)),
        ("filterIndex `attributes.session.id` in ['a', 'b'] | filter name = 'x'", True, (SESSION,)),
        ("filter traceId = '1' | sort @timestamp", True, ("traceId",)),
        ("filter attributes.session.id in ['1']", True, (SESSION,)),
        ("filter name = 'x' and attributes.session.id = '1'", True, (SESSION,)),
        ("filter attributes.session.id like /a/", False, (SESSION,)),
        ("filter attributes.session.id != 'a'", False, (SESSION,)),
        ("filter name = 'x' and durationNano > 5", False, ("durationNano", "name")),
        ("filter @message like /traceId = 5/", False, ("@message",)),
        ("filter name = 'filterIndex traceId = 5'", False, ("name",)),
        ("# filterIndex traceId = 1\nfields @message", False, ()),
        ("stats count(*) by bin(1h)", False, ()),
        ("SELECT * FROM `g` WHERE filterIndex('traceId' = 'a')", True, ()),
        ("", False, ()),
    ],
)
def test_a_text_tells_whether_an_index_serves_it(text: str, *, indexed: bool, fields: tuple[str, ...]) -> None:
    """Equality on a field that is indexed does; a word in a literal or a comment does not."""
    assert shape_of(text) == Shape(indexed, fields)


@given(st.text(max_size=300))
def test_any_text_has_a_shape_whose_name_prints(text: str) -> None:
    """Texts are written by anybody who may query."""
    name = shape_of(text).name

    assert name.isprintable()
    assert name


def test_many_fields_make_a_short_name() -> None:
    """The first ones are named, and that there are more."""
    text = "filter a = 1 and b = 2 and c = 3 and d = 4"

    assert shape_of(text).name == "scan filtered by a, b, c, ..."


def ran(text: str, scanned: int | None, skipped: int | None = None, groups: int | None = None) -> Ran:
    """Make a query of the history."""
    whole = None if scanned is None else Decimal(scanned)
    return Ran("q", text, AT, whole, None if skipped is None else Decimal(skipped), groups)


sizes = st.integers(0, 10**9)
queries = st.lists(
    st.builds(
        ran,
        st.sampled_from(["filterIndex traceId = 'a'", "filter name = 'x'", "stats count(*)", "filter traceId = 'b'"]),
        sizes,
        st.none() | sizes,
    ),
    min_size=1,
    max_size=30,
)


@given(queries)
def test_a_class_is_priced_at_the_bytes_that_were_read(history: list[Ran]) -> None:
    """Runs x (window - ratio x covered days) x bytes a day: the model scans what the queries did, to four digits."""
    for each in classes_of(history):
        query = each.query_class(A_DAY, 30, Decimal(30))
        assert query is not None
        skip_ratio = query.skip_ratio or Decimal(0)
        covered = min(query.window_days, INDEX_ENTRY_DAYS) if query.indexed else query.window_days
        priced = query.runs_per_month * (query.window_days - covered * skip_ratio) * A_DAY
        # A window or ratio is written with four digits behind the point.
        allowed = query.runs_per_month * A_DAY * Decimal("0.0001")
        if query.window_days < 3653:
            assert abs(priced - each.scanned) <= allowed
        assert 0 <= skip_ratio <= 1


@given(queries)
def test_no_query_is_lost_or_counted_twice(history: list[Ran]) -> None:
    """Classes have names of their own, and hold every run."""
    classes = classes_of(history)

    assert sum(each.runs for each in classes) == len(history)
    assert len({each.name for each in classes}) == len(classes)


def test_small_classes_are_joined() -> None:
    """Those that read most keep their names; look-ups and scans stay apart."""
    history = [ran(f"filter field{number} = 1", 1000 - number) for number in range(MOST_CLASSES)]
    history += [ran(f"filter small{number} = 1", 1) for number in range(3)]
    history += [ran(f"filterIndex small{number} = 1", 1) for number in range(4)]
    classes = {each.name: each for each in classes_of(history)}

    assert len(classes) == MOST_CLASSES + 2
    assert (classes["other scans"].runs, classes["other scans"].indexed) == (3, False)
    assert (classes["other look-ups"].runs, classes["other look-ups"].indexed) == (4, True)


def test_a_class_whose_bytes_nobody_tells_has_no_price() -> None:
    """It ran, and that is all that is known."""
    (each,) = classes_of([ran("stats count(*)", None)])

    assert (each.runs, each.told) == (1, 0)
    assert each.query_class(A_DAY, 30, Decimal(30)) is None


def test_an_index_that_spares_everything_still_has_a_window() -> None:
    """A ratio of 1 would leave nothing to divide by."""
    (each,) = classes_of([ran("filterIndex traceId = 1", 0, 5_000_000)])
    query = each.query_class(A_DAY, 30, Decimal(30))

    assert each.skip_ratio == 1
    assert query is not None
    assert (query.skip_ratio, query.window_days) == (Decimal("0.9999"), Decimal(0))


@pytest.mark.parametrize(("read", "skipped"), [(70, 30), (60, 15), (10, 90), (5, 26)])
def test_a_look_up_past_the_index_is_priced_at_the_bytes_that_were_read(read: int, skipped: int) -> None:
    """The model lets the ratio hold for the thirty days that index entries live, and what is measured says it so."""
    (each,) = classes_of([ran("filterIndex traceId = 'a'", read * int(A_DAY), skipped * int(A_DAY))])
    query = each.query_class(A_DAY, 30, Decimal(30))
    assert query is not None
    held = gigabytes(A_DAY * 30 / 1024)
    trail = Scenario(
        Deployment("us-east-1", regime=Regime.ADDRESS),
        Workload(
            sessions=Decimal(1),
            kb_per_session={Regime.ADDRESS: A_DAY * 30 / 1024},
            event_kb_per_session={Regime.ADDRESS: Decimal(0)},
        ),
    )
    priced = part_of(trail, query).quantity

    assert held is not None
    assert priced is not None
    assert 0 <= (query.skip_ratio or 0) <= 1
    assert abs(priced / held * 30 - read) < Decimal("0.01")
