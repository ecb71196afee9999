"""The archive keeps passages behind the answer's back, each once, and counts what it loses."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_image.errors import StoreError
from agent_image.retrieval.archive import Archive, NoArchive
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.passage import Passage
from agent_image.retrieval.store import PassageStore, State
from tests.agent_image.retrieval.trail_store import REGION, TrailStore, trail_store

LONG = 60.0


@dataclass
class RecordingStore:
    """Hold texts in memory, wait where it is told to, refuse what it is told to."""

    texts: dict[str, bytes] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)
    refused: dict[str, Exception] = field(default_factory=dict)
    down: Exception | None = None
    reached: Event = field(default_factory=Event)
    may_go_on: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.may_go_on.set()

    def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
        self.reached.set()
        self.may_go_on.wait()
        self.asked.append(list(fingerprints))
        if self.down:
            raise self.down
        return {one: self.states[one] for one in fingerprints if one in self.states}

    def put(self, fingerprint: str, data: bytes) -> None:
        if fingerprint in self.refused:
            raise self.refused[fingerprint]
        self.texts[fingerprint] = data
        self.states[fingerprint] = State.KNOWN

    def get(self, fingerprint: str) -> bytes | None:
        return self.texts.get(fingerprint)

    def erase(self, fingerprint: str) -> None:
        self.texts.pop(fingerprint, None)
        self.states[fingerprint] = State.ERASED


@contextmanager
def archive_on(store: PassageStore, capacity: int = 100) -> Iterator[Archive]:
    archive = Archive(store, capacity=capacity)
    try:
        yield archive
    finally:
        archive.close()


def passages(*texts: str) -> list[Passage]:
    return [Passage(f"s3://kb/{n}.md", text) for n, text in enumerate(texts)]


def of(text: str) -> str:
    return fingerprint(text).text


def notices(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_a_passage_is_kept_as_it_was_retrieved() -> None:
    """What is stored verifies against its fingerprint, broken letters included."""
    texts = ["Devoluções\n\n em 30 dias.", "broken \ud800 letter"]
    store = RecordingStore()
    with archive_on(store) as archive:
        archive.keep(passages(*texts))
        assert archive.flush(LONG)

    assert store.texts[of(texts[0])] == texts[0].encode()
    assert all(of(data.decode()) == one for one, data in store.texts.items())
    assert set(store.texts) == {of(text) for text in texts}


def test_what_the_process_has_seen_is_not_asked_for_again() -> None:
    """One read for a retrieval, about new passages alone; none where there are none."""
    store = RecordingStore(states={of("known"): State.KNOWN, of("erased"): State.ERASED})
    with archive_on(store) as archive:
        archive.keep(passages("known", "erased", "new", "new"))
        archive.keep(passages("known", "erased", "new"))
        archive.keep(passages("new", "newer"))
        assert archive.flush(LONG)

    assert [sorted(asked) for asked in store.asked] == [sorted(map(of, ["known", "erased", "new"])), [of("newer")]]
    assert set(store.texts) == {of("new"), of("newer")}


def test_an_erased_text_is_not_written() -> None:
    """The next retrieval does not bring it back."""
    store = RecordingStore()
    with archive_on(store) as archive:
        archive.keep(passages("text"))
        assert archive.flush(LONG)
        store.erase(of("text"))
        archive.keep(passages("text"))
        assert archive.flush(LONG)
    with archive_on(store) as fresh:
        fresh.keep(passages("text"))
        assert fresh.flush(LONG)

    assert store.texts == {}


def test_nothing_to_read_is_nothing_to_keep() -> None:
    """An empty text is known without an archive."""
    store = RecordingStore()
    with archive_on(store) as archive:
        archive.keep(passages(" \n"))
        archive.keep([])
        assert archive.flush(LONG)

    assert store.asked == []


def test_nobody_waits_for_the_store() -> None:
    """`keep` comes back while the store hangs; a flush says that it is not through."""
    store = RecordingStore()
    store.may_go_on.clear()
    with archive_on(store) as archive:
        archive.keep(passages("one"))
        store.reached.wait()
        archive.keep(passages("two"))
        assert not archive.flush(0)
        assert store.texts == {}
        store.may_go_on.set()
        assert archive.flush(LONG)

    assert set(store.texts) == {of("one"), of("two")}


def test_what_finds_no_room_is_lost_and_counted(capfd: pytest.CaptureFixture[str]) -> None:
    """The bound is in passages, those in the worker's hands included; a retrieval goes in whole or not at all."""
    store = RecordingStore()
    store.may_go_on.clear()
    with archive_on(store, capacity=3) as archive:
        archive.keep(passages("one", "two"))
        store.reached.wait()
        archive.keep(passages("three", "four"))
        archive.keep(passages("five"))
        lost = archive.take_lost()
        store.may_go_on.set()
        assert archive.flush(LONG)
        archive.keep(passages("three", "four"))
        assert archive.flush(LONG)
        assert (lost, archive.take_lost()) == (2, 0)

    assert set(store.texts) == {of(text) for text in ("one", "two", "three", "four", "five")}
    assert notices(capfd) == [
        {"notice": "archive_lost", "count": 2, "reason": "queue_full", "first": f"{of('three')}/{of('four')}"}
    ]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(StoreError("throttled", "The archive is busy."), "throttled"), (KeyError("the words of a passage"), "KeyError")],
)
def test_a_store_that_is_down_loses_what_is_new(
    error: Exception, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The loss is counted once, told by code or type, and the next retrieval tries again."""
    store = RecordingStore(down=error)
    with archive_on(store) as archive:
        archive.keep(passages("one", "two", "two"))
        assert archive.flush(LONG)
        assert (archive.take_lost(), archive.take_lost()) == (2, 0)
        store.down = None
        archive.keep(passages("one", "two"))
        assert archive.flush(LONG)
        assert archive.take_lost() == 0

    assert set(store.texts) == {of("one"), of("two")}
    ((told),) = notices(capfd)
    assert (told["notice"], told["count"], told["reason"]) == ("archive_lost", 2, reason)
    assert "words" not in json.dumps(told)


def test_one_text_that_cannot_be_stored_holds_up_no_other() -> None:
    """A refusal is a loss of one, until it is tried again."""
    store = RecordingStore(refused={of("two"): StoreError("unavailable", "no")})
    with archive_on(store) as archive:
        archive.keep(passages("one", "two", "three"))
        assert archive.flush(LONG)
        assert archive.take_lost() == 1
        store.refused.clear()
        archive.keep(passages("two"))
        assert archive.flush(LONG)
        assert archive.take_lost() == 0

    assert set(store.texts) == {of("one"), of("two"), of("three")}


def test_a_long_loss_is_told_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """The count is whole, and as many fingerprints as a fact holds are named."""
    texts = [f"text {n}" for n in range(100)]
    with archive_on(RecordingStore(down=OSError())) as archive:
        archive.keep(passages(*texts))
        assert archive.flush(LONG)

    (told,) = notices(capfd)
    assert (told["count"], told["first"]) == (100, "/".join(of(text) for text in texts[:8]))


def test_closing_keeps_what_waits() -> None:
    """A process that ends in order loses nothing."""
    store = RecordingStore()
    archive = Archive(store)
    for n in range(50):
        archive.keep(passages(f"text {n}"))
    archive.close(LONG)

    assert len(store.texts) == 50
    assert archive.take_lost() == 0


def test_closing_in_a_hurry_counts_what_still_waits() -> None:
    """What the worker has in its hands goes on; the rest, and what comes later, is lost and counted."""
    store = RecordingStore()
    store.may_go_on.clear()
    archive = Archive(store)
    archive.keep(passages("in hand"))
    store.reached.wait()
    archive.keep(passages("one", "two"))
    archive.close(0)
    archive.keep(passages("late"))

    assert archive.take_lost() == 3
    store.may_go_on.set()
    assert archive.flush(LONG)
    assert set(store.texts) == {of("in hand")}


def test_other_regimes_keep_nothing() -> None:
    """The same verbs, and nothing behind them."""
    archive = NoArchive()
    archive.keep(passages("text"))
    archive.close()

    assert (archive.take_lost(), archive.flush(0)) == (0, True)


# --- against S3 and DynamoDB ------------------------------------------------------------------------------------------

DOCUMENTS = [f"Document {n}: " + f"words of its own, number {n}. " * 20 for n in range(50)]


@pytest.fixture
def place(aws_url: str) -> TrailStore:
    return trail_store(aws_url)


def read_by(session: int) -> list[Passage]:
    """Give the five passages that a session retrieves: all documents are read, in ever other company."""
    return passages(*(DOCUMENTS[(session * 7 + n * n) % len(DOCUMENTS)] for n in range(5)))


def test_a_thousand_sessions_write_each_text_once(place: TrailStore) -> None:
    """Each session is a fresh process, as far as clients and memory go: one read for its retrieval, no needless PUT."""
    for session in range(1_000):
        with archive_on(place.store()) as archive:
            archive.keep(read_by(session))
            assert archive.flush(LONG)
            assert archive.take_lost() == 0

    assert place.sent == {"BatchGetItem": 1_000, "PutObject": 50, "PutItem": 50}
    assert set(place.objects().values()) == {text.encode() for text in DOCUMENTS}


SESSION = """
import json, sys
from collections import Counter
from agent_image.retrieval.archive import Archive
from agent_image.retrieval.passage import Passage
from agent_image.retrieval.s3_store import S3PassageStore, parse_s3_place, s3_clients

name, region, texts = json.load(sys.stdin)
sent = Counter()
clients = s3_clients(region)
for client in (clients.s3, clients.dynamodb):
    client.meta.events.register("before-send.*.*", lambda event_name, **_: sent.update([event_name.split(".")[2]]))
archive = Archive(S3PassageStore(parse_s3_place(f"s3://{name}/passages/", f"dynamodb://{name}"), clients))
for retrieved in texts:
    archive.keep([Passage("s3://kb/a.md", text) for text in retrieved])
archive.close(60)
json.dump([sent, archive.take_lost()], sys.stdout)
"""


def test_real_processes_write_each_text_once(place: TrailStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with nothing shared but the services: two retrievals a process, the second all known by then."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", place.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    found = []
    for session in range(5):
        texts = [[passage.text for passage in read_by(n)] for n in (session, 0)]
        ended = subprocess.run(
            [sys.executable, "-c", SESSION],
            input=json.dumps([place.place.bucket, REGION, texts]),
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(ended.stdout))

    distinct = {passage.text for session in range(5) for passage in read_by(session)}
    assert [lost for _, lost in found] == [0] * 5
    assert sum(sent.get("PutObject", 0) for sent, _ in found) == len(distinct)
    # The first session's second retrieval is its first one again: nothing is left to ask.
    assert [sent["BatchGetItem"] for sent, _ in found] == [1, 2, 2, 2, 2]
    assert set(place.objects().values()) == {text.encode() for text in distinct}


def test_an_erased_text_stays_erased_for_fresh_processes(place: TrailStore) -> None:
    """Sessions that read the text again find its mark, and write nothing."""
    erased = read_by(0)[0]
    for turn in range(3):
        with archive_on(place.store()) as archive:
            archive.keep(read_by(0))
            assert archive.flush(LONG)
        if turn == 0:
            place.store().erase(erased.fingerprint.text)

    assert place.store().get(erased.fingerprint.text) is None
    assert place.store().known([erased.fingerprint.text]) == {erased.fingerprint.text: State.ERASED}
    assert place.sent["PutObject"] == 5 + 1


@pytest.mark.parametrize("service", ["s3_url", "dynamodb_url"])
def test_an_endpoint_that_is_down_costs_passages_and_no_answer(place: TrailStore, service: str) -> None:
    """Whichever of the two does not listen: `keep` comes back, the loss is counted, and later all is kept."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and never listening
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with archive_on(place.store(**{service: nowhere})) as archive:
            archive.keep(read_by(0))
            assert archive.flush(LONG)
            assert archive.take_lost() == 5
    with archive_on(place.store()) as archive:
        archive.keep(read_by(0))
        assert archive.flush(LONG)
        assert archive.take_lost() == 0

    assert len(place.objects()) == 5


def test_keeping_leaves_no_spans(place: TrailStore, spans: InMemorySpanExporter) -> None:
    """The archive's own calls would stand in the trail under no session, and cost more than all addresses."""
    store = place.store()
    with archive_on(store) as archive:
        archive.keep(read_by(0))
        assert archive.flush(LONG)

    assert spans.get_finished_spans() == ()
    # The same call from anywhere else is traced.
    assert len(store.known([read_by(0)[0].fingerprint.text])) == 1
    assert [span.name for span in spans.get_finished_spans()] == ["DynamoDB.BatchGetItem"]
