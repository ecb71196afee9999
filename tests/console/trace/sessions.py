"""Sessions as they come out of a trail, and what became of their passages: built by hand, for all that shows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from agent_image.contract import Regime
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.passage import Address
from console.trace.facts import Facts, Index, IndexFact, Source, SourceFact, Text, TextFact
from console.trace.record import Note, Unread
from console.trace.session import (
    GuardStep,
    ModelCall,
    OtherStep,
    PassageRead,
    Retrieval,
    Session,
    Tokens,
    ToolCall,
    Turn,
    Words,
)

SESSION_ID = "64c1ebda-a0cf-4a17-bfa0-4061606e5d3e"
CHECKPOINT_ID = "4037181de7e0" + "0" * 52
BASE = "s3://handbook/shop/"
START = datetime(2026, 3, 14, 3, 0, 0, tzinfo=UTC)
WORDS = {
    "returns.md": "Returns are free for 30 days.\nKeep the receipt.",
    "warranty.md": "The warranty lasts two years.",
    "shipping.md": "We ship within two days.",
    "prices.pdf": "We match any price.",
}
UNRECORDED = "not recorded (regime archive)"


def passage(number: int, position: int, name: str, *, score: float = 0.5, cited: bool = False) -> PassageRead:
    """Build a passage of the sample's documents."""
    address = Address(name, fingerprint(WORDS[name]))
    return PassageRead(number, position, str(address), address, BASE + name, score, cited=cited)


RETRIEVAL = Retrieval(
    title="retrieval KB12345678",
    span_id="b974a986efa164bf",
    started=START,
    duration_ms=Decimal("6.9"),
    data_source="KB12345678",
    top_k=4,
    index_version="1e832be6",
    count=4,
    passages=(
        passage(1, 1, "returns.md", score=5.1064, cited=True),
        passage(2, 2, "warranty.md", score=2.8543),
        passage(3, 3, "shipping.md", score=2.6829, cited=True),
        passage(4, 4, "prices.pdf", score=2.245),
    ),
)

ASKED = Turn(
    run="6793a52684d945b0a6be71dd1907bdd6",
    kind="prompt",
    trace_id="6b0d4edb0f170c35281f503d2246efe4",
    started=START,
    duration_ms=Decimal(1240),
    outcome="completed",
    question=Words(size=37, digest="iZUuG18FrIRvTgzP", why=UNRECORDED),
    answer=Words(size=300, digest="qqUuG18FrIRvTgzP", why=UNRECORDED),
    answer_fingerprint="CV9MQ2Lk7UrCNRRgfdhEbt8r.255",
    cited=(1, 3),
    unsupported=(9,),
    cost_usd=Decimal("0.00345"),
    tokens=Tokens(1084, 56, 0, 0),
    steps=(
        ModelCall(
            title="chat",
            duration_ms=Decimal("3.6"),
            model="claude",
            tokens=Tokens(154, 10),
            cost_usd=Decimal("0.001"),
            stop_reason="tool_use",
        ),
        ToolCall(
            title="execute_tool search_knowledge",
            duration_ms=Decimal("8.9"),
            tool="search_knowledge",
            tool_use_id="offline-1",
            zone="green",
            ruling="allowed",
            arguments=Words(size=49, digest="a"),
            result=Words(size=4454, digest="b"),
            children=(RETRIEVAL,),
        ),
        ModelCall(
            title="chat", model="claude", tokens=Tokens(930, 46), cost_usd=Decimal("0.00245"), stop_reason="end_turn"
        ),
    ),
)

SUSPENDED = Turn(
    run="12c291a699c94086ac05cdcceeb96144",
    kind="prompt",
    trace_id="6b0d4ee42271d8ac120d58c0878353f5",
    started=START + timedelta(seconds=9),
    duration_ms=Decimal(21),
    outcome="suspended",
    question=Words(size=24, digest="2Vjw7vbvVq5ymKpa", why=UNRECORDED),
    cost_usd=Decimal("0.001"),
    tokens=Tokens(981, 4, 0, 0),
    checkpoint_id=CHECKPOINT_ID,
    resumed_by=("99c291a699c94086ac05cdcceeb96144",),
    steps=(
        GuardStep(
            title="guard asked",
            event="gate",
            ruling="asked",
            tool="refund_order",
            zone="red",
            checkpoint_id=CHECKPOINT_ID,
            reasons=("zone_red",),
        ),
    ),
)

RESUMED = Turn(
    run="99c291a699c94086ac05cdcceeb96144",
    kind="resume",
    trace_id="7b0d4ee42271d8ac120d58c0878353f5",
    started=START + timedelta(minutes=5),
    duration_ms=Decimal(900),
    outcome="completed",
    answer=Words(size=60, digest="zzUuG18FrIRvTgzP", why=UNRECORDED),
    tokens=Tokens(1200, 30),
    resumes=SUSPENDED.run,
    steps=(
        GuardStep(
            title="decision",
            event="decision",
            ruling="approved",
            tool="refund_order",
            zone="red",
            approver="ana",
            waited_ms=182_000,
            checkpoint_id=CHECKPOINT_ID,
        ),
        ToolCall(
            title="execute_tool refund_order",
            tool="refund_order",
            zone="red",
            ruling="approved",
            error="ConnectionError",
            arguments=Words(size=32),
        ),
        GuardStep(title="alert", event="alert", severity="warning", code="error_streak"),
    ),
)

FEEDBACK = Turn(
    run="55c291a699c94086ac05cdcceeb96144",
    kind="feedback",
    started=START + timedelta(minutes=6),
    outcome="completed",
    verdict="bad",
    note=Words(size=24, digest="nnUuG18FrIRvTgzP", why=UNRECORDED),
)

SESSION = Session(
    id=SESSION_ID,
    regimes=(Regime.ADDRESS, Regime.ARCHIVE),
    turns=(ASKED, SUSPENDED, RESUMED, FEEDBACK),
    apart=(OtherStep(title="db query", scope="vendor", duration_ms=Decimal(2), attributes={"db.system": "pg"}),),
    unread=(Unread("truncated", '{"traceId":"6b0d4'),),
    notes=(Note("unread_lines", "1 line of the trail could not be read", partial=True),),
)

FACTS = {
    "returns.md": Facts(
        TextFact(Text.ARCHIVE, WORDS["returns.md"]),
        SourceFact(Source.INTACT, media_type="text/markdown", before="Our promise.", after="Ask at the desk."),
        IndexFact(Index.REINDEXED, "1e832be6", "77ab00cd"),
    ),
    "warranty.md": Facts(
        TextFact(Text.ARCHIVE, WORDS["warranty.md"]),
        SourceFact(Source.CHANGED, version="v7", version_time="2026-03-01T00:00:00Z"),
        IndexFact(Index.REINDEXED, "1e832be6", "77ab00cd"),
    ),
    "shipping.md": Facts(
        TextFact(Text.NOT_RECOVERED, why="erased"),
        SourceFact(Source.MISSING),
        IndexFact(Index.REINDEXED, "1e832be6", "77ab00cd"),
    ),
    "prices.pdf": Facts(
        TextFact(Text.NOT_RECOVERED, why="access_denied"),
        SourceFact(Source.UNREADABLE, "access_denied"),
        IndexFact(Index.REINDEXED, "1e832be6", "77ab00cd"),
    ),
}


def finding(_: Retrieval, read: PassageRead) -> Facts | None:
    """Tell what became of a passage of the sample."""
    return FACTS.get(read.uri.removeprefix(BASE))


RUN_EVIL = "turn 99"
EVIL = (
    f"\x1b[2J\u202e\n{RUN_EVIL}  prompt  completed [bold]x[/bold] {{{{ 7 * 7 }}}} "
    "<script>alert(1)</script>\"' javascript:alert(1)"
)
"""What a hostile span would say, everywhere."""


def evil_session() -> Session:
    """Build a session each text of which would steer a terminal or a page if it could."""
    words = Words(EVIL, 10, EVIL, EVIL)
    unsaid = Words(None, 10, EVIL, EVIL)
    address = Address(EVIL, fingerprint(EVIL))
    read = (
        PassageRead(1, 1, EVIL, address, "javascript:alert(1)", 0.5, EVIL, cited=True),
        PassageRead(2, 2, EVIL, None, EVIL, None, None),
    )
    deep = OtherStep(title=EVIL, scope=EVIL, error=EVIL, operation=EVIL, attributes={EVIL: EVIL})
    steps = (
        ModelCall(title=EVIL, model=EVIL, stop_reason=EVIL, error=EVIL),
        ToolCall(title=EVIL, tool=EVIL, zone=EVIL, ruling=EVIL, arguments=words, result=unsaid, children=(deep,)),
        Retrieval(title=EVIL, data_source=EVIL, index_version=EVIL, count=2, passages=read, error=EVIL),
        GuardStep(
            title=EVIL,
            event=EVIL,
            ruling=EVIL,
            tool=EVIL,
            zone=EVIL,
            checkpoint_id=EVIL,
            approver=EVIL,
            hook=EVIL,
            code=EVIL,
            severity=EVIL,
            reasons=(EVIL,),
            reason=words,
        ),
    )
    turn = Turn(
        run=EVIL,
        kind=EVIL,
        trace_id=EVIL,
        outcome=EVIL,
        question=words,
        answer=unsaid,
        answer_fingerprint=EVIL,
        steps=steps,
        resumes=EVIL,
        resumed_by=(EVIL, "x"),
        checkpoint_id=EVIL,
        verdict=EVIL,
        note=words,
        error=EVIL,
    )
    done = Turn(run="x", kind="prompt", outcome="completed", answer=words, question=unsaid)
    return Session(
        EVIL, turns=(turn, done), apart=(deep,), unread=(Unread(EVIL, EVIL),), notes=(Note(EVIL, EVIL, partial=True),)
    )
