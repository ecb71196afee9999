"""No content leaves but by the regime that holds it: not by any door, not in any form."""

from __future__ import annotations

from collections import Counter

import pytest

from agent_image.contract import Regime
from tests.canary import hooked, scenes, script
from tests.canary.conftest import Hauls
from tests.canary.emitters import EMITTERS, OWN, SLIM_CONTENT, Emitter
from tests.canary.locks import Lock
from tests.canary.rounds import ROUNDS, holding_alone, opened, shown
from tests.canary.stage import ENDPOINT, FILE, PLAIN, SPLIT, UNIFIED, Run

SILENT = [regime for regime in Regime if regime is not Regime.CONTENT]
CLOSED = [Run(regime, delivery) for regime in SILENT for delivery in (UNIFIED, SPLIT, PLAIN)]
CLOSED += [Run(delivery=ENDPOINT), Run(delivery=FILE)]
CONTENT = [Run(Regime.CONTENT, delivery) for delivery in (UNIFIED, SPLIT, PLAIN, FILE)]
OPENED = [Run(off=off) for off in ROUNDS]
HOSTILE = Run(
    delivery=SPLIT,
    variables=(
        ("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental,gen_ai_span_attributes_only"),
        ("AWS_REDACT_SPAN_ATTRIBUTES", ""),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
        ("OTEL_TRACES_EXPORTER", "otlp,console"),
        ("OTEL_LOGS_EXPORTER", "otlp,console"),
        ("OTEL_METRICS_EXPORTER", "awsemf,console"),
        ("OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED", "true"),
        ("OTEL_PYTHON_LOG_CORRELATION", "true"),
        ("OTEL_PYTHON_LOG_LEVEL", "debug"),
        ("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", ""),
        ("OTEL_BAGGAGE_SPAN_ATTRIBUTE_KEYS", "session.id,canary"),
        ("OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST", ".*"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "100"),
        ("PYTHONDEVMODE", "1"),
    ),
)
RETRIEVALS = 3 * len(script.TURNS)
NEVER_SHOWN = {
    *(script.NO_JSON, script.NO_KIND, script.BAGGAGE, script.USER, script.WEBHOOK),
    *(*scenes.BUDGET_CONSENT.both, hooked.COMMENT, hooked.CODE),
}
"""What no library says, even if it may say everything."""


@pytest.mark.parametrize("run", CLOSED, ids=str)
def test_nothing_leaves(run: Run, hauls: Hauls) -> None:
    """In the regimes that hold no text, by every way in which spans are sent; the trail itself does leave."""
    haul = hauls(run)

    assert haul.found() == {}
    assert haul.doors["traces"].count(b"retrieval KB12345678") == RETRIEVALS
    assert haul.kept.archived == (set(script.archived()) if run.regime is Regime.ARCHIVE else set())


@pytest.mark.parametrize("run", CONTENT, ids=str)
def test_content_leaves_each_text_once_in_spans(run: Run, hauls: Hauls) -> None:
    """Passages on their retrieval's span, question and answer on their invocation's, the note on its own: no more."""
    spans = Counter({found: count for found, count in hauls(run).found().items() if found[0] != "stdout"})

    assert spans == Counter(dict.fromkeys(OWN.shows, 1))


@pytest.mark.parametrize("run", CONTENT, ids=str)
def test_content_leaves_in_slim_lines_what_the_audit_holds(run: Run, hauls: Hauls) -> None:
    """Texts of events, redacted and cut; no address, and nothing behind the cut."""
    assert {found for found in hauls(run).found() if found[0] == "stdout"} == SLIM_CONTENT.shows


@pytest.mark.parametrize("run", [HOSTILE], ids=str)
def test_an_environment_that_opens_everything_opens_nothing(run: Run, hauls: Hauls) -> None:
    """Whatever a platform sets, the locks of the process hold."""
    assert hauls(run).found() == {}


@pytest.mark.parametrize("run", OPENED, ids=str)
def test_open_emitters_show_all_that_they_know_and_the_closed_ones_nothing(run: Run, hauls: Hauls) -> None:
    """The canary can fail: without its locks, every emitter makes it."""
    assert set(hauls(run).found()) == shown(run.off)


@pytest.mark.parametrize("emitter", EMITTERS, ids=lambda emitter: emitter.name)
def test_a_round_opens_every_emitter(emitter: Emitter) -> None:
    """Nothing is called closed that was never seen open."""
    assert any(emitter in opened(off) for off in ROUNDS)


@pytest.mark.parametrize(
    ("emitter", "lock"),
    [(emitter, lock) for emitter in EMITTERS if len(emitter.locks) > 1 for lock in sorted(emitter.locks)],
    ids=lambda part: part.name,
)
def test_a_round_leaves_each_lock_alone(emitter: Emitter, lock: Lock) -> None:
    """With the others off, it holds: that round shows nothing of the emitter's."""
    assert holding_alone(emitter, lock)


def test_every_marker_can_be_shown() -> None:
    """A marker that stands nowhere would be missed for ever."""
    seen = {place for emitter in EMITTERS for _, place in emitter.shows}

    assert {marker.place for marker in script.ALL} - seen == {marker.place for marker in NEVER_SHOWN}
