"""A session is laid out so that what happened, and what nobody can know, stands there in words; nothing steers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from agent_image.contract import Regime
from console.trace.display import Cell, Line, Quote
from console.trace.drawn import DEEPEST_DRAWN, Drawn
from console.trace.ending import ending
from console.trace.plain import PlainWriter
from console.trace.quotes import quotes
from console.trace.reads import relative
from console.trace.record import Unread
from console.trace.session import ModelCall, OtherStep, PassageRead, Retrieval, Session, Tokens, Turn, Words
from console.trace.trail import Scan
from console.trace.tree import tree
from tests.console.trace.sessions import ASKED, BASE, RETRIEVAL, RUN_EVIL, SESSION, SUSPENDED, evil_session, finding

FIRST = (RETRIEVAL.passages or ())[0]
GOLDEN = Path(__file__).parent / "goldens" / "session.txt"


def plain(lines: Iterable[Line]) -> str:
    written: list[str] = []
    PlainWriter(written.append).lines(lines)
    return "".join(written)


def quoted(quote: Quote) -> str:
    written: list[str] = []
    PlainWriter(written.append).quote(quote)
    return "".join(written)


def drawn(lines: Iterable[Line], width: int = 120) -> str:
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=width, color_system=None, legacy_windows=False)
    Drawn(console).lines(lines)
    return file.getvalue()


def with_retrieval(retrieval: Retrieval) -> Session:
    turn = replace(ASKED, steps=(retrieval,))
    return replace(SESSION, turns=(turn,), apart=(), unread=(), notes=())


def test_a_session_is_told_whole() -> None:
    """Header, turns, calls, rulings, passages with their three facts, suspended runs joined, what is missing."""
    assert plain(tree(SESSION, finding)) == GOLDEN.read_text()


def test_a_pipe_reads_ascii_without_trailing_blanks() -> None:
    """Indentation is blanks; the same whatever the terminal."""
    text = plain(tree(SESSION, finding))

    assert text.isascii()
    assert "\x1b" not in text
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_nobody_looked_and_nothing_is_claimed() -> None:
    """Without looking up there are no facts, neither good nor bad."""
    text = plain(tree(SESSION, None))

    assert "text:" not in text
    assert "source:" not in text
    assert "index 1e832be6  6.9 ms" in text


def test_metadata_says_that_it_cannot_know() -> None:
    """Counts stay; which passages they were is not guessed."""
    session = replace(with_retrieval(replace(RETRIEVAL, passages=None, count=5)), regimes=(Regime.METADATA,))
    text = plain(tree(session, finding))

    assert "retrieval  KB12345678  5 passages of at most 4" in text
    assert "regime metadata: which passages these were cannot be known" in text


def test_a_span_without_addresses_is_no_regime() -> None:
    """Where nobody says which regime it was, none is named."""
    text = plain(tree(replace(with_retrieval(replace(RETRIEVAL, passages=None)), regimes=()), finding))

    assert "regime unknown" in text
    assert "the span does not say which passages these were" in text


def test_an_empty_retrieval_is_no_riddle() -> None:
    """Nothing was found, and everybody knows it."""
    text = plain(tree(with_retrieval(replace(RETRIEVAL, passages=None, count=0)), finding))

    assert "0 passages" in text
    assert "does not say" not in text


def test_a_list_that_was_cut_says_so() -> None:
    """What could be read of it stands below."""
    text = plain(tree(with_retrieval(replace(RETRIEVAL, malformed=True)), finding))

    assert "could not be read, or not all of it" in text
    assert "returns.md" in text


def test_another_vendors_passage_has_no_address() -> None:
    """Its id is shown as it is, and no facts are made up."""
    foreign = PassageRead(None, 1, "chunk-7", None, "", None)
    text = plain(tree(with_retrieval(replace(RETRIEVAL, passages=(foreign,))), finding))

    assert "[?]  no score  chunk-7  no address of ours" in text


def test_numbers_stand_under_each_other() -> None:
    """With more than nine passages, and with or without the mark of a citation."""
    passages = tuple(replace(FIRST, number=number, cited=number == 10) for number in (9, 10))
    rows = [
        line
        for line in plain(tree(with_retrieval(replace(RETRIEVAL, passages=passages)), None)).splitlines()
        if "[" in line
    ]

    assert [row.strip() for row in rows[:2]] == [
        "[ 9]         5.1064  sBA3Wt2RMzsodZCfPDLnFd42  returns.md  47 bytes",
        "[10]  cited  5.1064  sBA3Wt2RMzsodZCfPDLnFd42  returns.md  47 bytes",
    ]


def test_words_that_the_trail_holds_stand_apart() -> None:
    """In regime content: each row behind a mark, cut where it is too long, with what is missing said."""
    turn = replace(
        ASKED, question=Words("Can I\nturn 9  prompt  completed?", 34), answer=Words("a" * 5_000, 5_000), steps=()
    )
    text = plain(tree(replace(SESSION, turns=(turn,)), finding))

    assert "  question  34 bytes\n    | Can I\n    | turn 9  prompt  completed?\n" in text
    assert "… (3,800 more characters)" in text


def test_a_run_that_nobody_resumed_waits() -> None:
    """And the command leads to its checkpoint, named whole."""
    session = replace(SESSION, turns=(replace(SUSPENDED, resumed_by=()),))

    assert "nothing in the trail goes on with it" in plain(tree(session, None))
    assert f"rastro approvals show {SUSPENDED.checkpoint_id} --state x\n" in plain(
        ending(session, (), Scan(), " --state x", text=False)
    )


def test_the_end_leads_on() -> None:
    """What was read and cost, other sessions, and commands to copy."""
    other = replace(SESSION, id="another", turns=(ASKED,))
    text = plain(ending(SESSION, (other,), Scan(2, 14_000_000, Decimal("0.00007")), "", text=False))

    assert "another  2026-03-14 03:00:00 UTC" in text
    assert "read  13.4 MB in 2 queries, 0.00007 USD" in text
    assert f"rastro trace --session {SESSION.id} --text" in text
    assert "rastro trace --chunk=sBA3Wt2RMzsodZCfPDLnFd42" in text


@pytest.mark.parametrize("session_id", ["", "a\nrastro erase b"])
def test_a_command_holds_no_id_that_could_be_another_command(session_id: str) -> None:
    """An id that cannot be shown whole in a line is no part of what people copy."""
    assert "--session" not in plain(ending(replace(SESSION, id=session_id), (), Scan(), "", text=False))


def test_a_shell_reads_an_id_as_one_word() -> None:
    """Whatever an agent calls its sessions."""
    text = plain(ending(replace(SESSION, id="a; rm -rf b"), (), Scan(), "", text=False))

    assert "--session 'a; rm -rf b' --text" in text


@pytest.mark.parametrize("show", [plain, drawn])
def test_nothing_in_a_trail_steers_a_terminal(show: object) -> None:
    """Escapes, direction marks, line ends and markup in every text are spelt out or plain."""
    assert callable(show)
    text = show(tree(evil_session(), lambda *_: None))

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b" in text
    assert "[bold]" in text
    # A text of a trail cannot make a line that looks like one of ours.
    assert not any(line.strip().startswith(RUN_EVIL) for line in text.splitlines())


def test_quotes_are_given_once_each() -> None:
    """The same passage read twice is one quote under both its numbers, with what stands around it."""
    again = replace(RETRIEVAL, passages=(replace(FIRST, number=7),))
    session = replace(SESSION, turns=(ASKED, replace(ASKED, steps=(again,))))
    found = list(quotes(session, finding))

    assert len(found) == 4
    assert quoted(found[0]) == (
        f"[1] [7]  cited  {BASE}returns.md#sBA3Wt2RMzsodZCfPDLnFd42.47\n"
        "  : Our promise.\n  | Returns are free for 30 days.\n  | Keep the receipt.\n  : Ask at the desk.\n"
    )


def test_a_quote_without_words_says_why() -> None:
    """Erased is erased."""
    assert quoted(list(quotes(SESSION, finding))[2]).endswith("  no words: not recovered (erased from the archive)\n")


def test_a_terminal_frames_a_quote() -> None:
    """Below its title, which no frame cuts, and with what stands around it."""
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=60, color_system=None, legacy_windows=False)
    Drawn(console).quote(Quote("[1]  returns.md", "Returns are\x1b free.", "Before.", "After."))
    rows = file.getvalue().splitlines()

    assert rows[0] == "[1]  returns.md"
    assert rows[1].startswith("╭───")
    assert [row.strip("│ ") for row in rows[2:-1]] == ["Before.", "Returns are\\x1b free.", "After."]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_drawn_line_breaks_between_its_parts(width: int) -> None:
    """No row is wider than the terminal; on one of usual width a part is whole where it fits a row."""
    text = drawn(tree(SESSION, finding), width)

    assert max(map(len, text.splitlines())) <= width
    if width >= 80:
        assert "checkpoint 4037181de7e0" in text
        assert "names [9], which nobody read" in text


def test_a_command_is_drawn_in_one_piece() -> None:
    """However narrow the terminal, it can be copied."""
    text = drawn(ending(SESSION, (), Scan(), " --state a-folder-with-a-long-name", text=False), 40)

    assert f"rastro trace --session {SESSION.id} --state a-folder-with-a-long-name --text\n" in text


def test_depth_has_an_end() -> None:
    """Spans that nest without end say how deep they lie, and each takes one line."""
    lines = [Line(depth, (Cell(f"span-{depth}"),)) for depth in range(5_000)]
    text = plain(lines)

    assert len(text) < 5_000 * 120
    assert "(4999) span-4999" in text
    assert max(map(len, drawn(lines, 200).splitlines())) < 4 * DEEPEST_DRAWN + 40


def test_steps_nest_as_deep_as_they_like() -> None:
    """No recursion: 10,000 spans, each within the one before."""
    step = OtherStep(title="leaf")
    for number in range(10_000):
        step = OtherStep(title=f"span {number}", children=(step,))
    text = plain(tree(replace(SESSION, turns=(replace(ASKED, steps=(step,)),)), None))

    assert "leaf" in text
    assert text.count("span ") >= 10_000


def test_what_could_not_be_read_is_counted() -> None:
    """The first beginnings are shown, and how many more there are."""
    unread = tuple(Unread("truncated", f"{{{number}") for number in range(10))
    text = plain(tree(replace(SESSION, unread=unread), None))

    assert "unread  truncated  {2" in text
    assert "unread  and 7 more lines" in text


def test_costs_add_up_and_the_unknown_is_not_nothing() -> None:
    """A turn without a cost makes the total a lower bound; feedback has none that could be unknown."""
    assert "at least 0.00445 USD: 1 turn without a cost" in GOLDEN.read_text()
    assert "cost unknown" in plain(tree(replace(SESSION, turns=(replace(ASKED, cost_usd=None),)), None)).splitlines()[1]


def test_what_a_model_call_lacks_is_said() -> None:
    """No tokens and no cost are unknown, never 0."""
    turn = replace(ASKED, steps=(ModelCall(title="chat"),), tokens=Tokens())
    text = plain(tree(replace(SESSION, turns=(turn,)), None))

    assert "model  chat  tokens unknown  cost unknown" in text


def test_uris_without_a_common_home_stay_whole() -> None:
    """A scheme alone is no base."""
    one, other = (replace(FIRST, uri=uri) for uri in ("s3://a/x.md", "s3://b/y.md"))

    assert relative((one, other)) == ("", ("s3://a/x.md", "s3://b/y.md"))


def test_an_unknown_turn_is_still_a_turn() -> None:
    """Of which only an event tells: no kind, no end, no time."""
    text = plain(tree(Session("s", turns=(Turn(run="r"),)), lambda *_: None))

    assert "turn 1  kind unknown  no end in the trail  at an unknown time  cost unknown  run r" in text
