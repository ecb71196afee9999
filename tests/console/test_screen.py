"""What is shown is aligned in a pipe, framed on a terminal, exact as JSON, and never steers."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from console import card as cards
from console import table as tables
from console.card import Card, json_row, row
from console.framed import Framed
from console.moments import lasting, lasting_seconds, now
from console.screen import Screen, standard
from console.table import Table
from console.terminal import shown_line

EVIL = "\x1b[31mred\n\ttab\u202e[bold]x[/bold]"
CARD = Card(
    title="refund_order",
    badge="pending, 5 min left",
    warnings=("look here",),
    rows=(row("zone", "red"), json_row("arguments", {"amount": 150}), row("reasons", "one", "two"), row("none")),
    commands=(("approve", "rastro approvals approve " + "0" * 64 + " --resume"), ("no", "x")),
)
TABLE = Table(("tool", "calls"), (("refund_order", "2"), ("look", "10")), frozenset({1}), title="tools")


class Written(StringIO):
    """Keep what is written, as a screen writes it."""

    def put(self, text: str) -> None:
        self.write(text)


def framed(width: int = 80, *, colour: bool = False) -> tuple[Screen, Written]:
    file = Written()
    console = Console(
        file=file,
        force_terminal=True,
        width=width,
        color_system="truecolor" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    return Screen(file.put, Framed(console)), file


def test_a_table_is_aligned_in_a_pipe() -> None:
    """Numbers to the right, no blank at the end of a line."""
    written: list[str] = []

    Screen(written.append).table(TABLE)

    assert "".join(written) == (
        "tools\ntool          calls\n------------  -----\nrefund_order      2\nlook             10\n"
    )


def test_a_card_is_lines_in_a_pipe() -> None:
    """Title, warning, facts, commands; a row without a value has its label."""
    written: list[str] = []

    Screen(written.append).card(CARD)

    assert "".join(written) == (
        "refund_order: pending, 5 min left\nWARNING: look here\n\n"
        'zone       red\narguments  {\n             "amount": 150\n           }\n'
        "reasons    one\n           two\nnone\n\n"
        f"approve  rastro approvals approve {'0' * 64} --resume\nno       x\n"
    )


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_card_fits_its_terminal(width: int) -> None:
    """The frame is no wider than the terminal, and than can be read; a command stays one line, to be copied."""
    screen, file = framed(width)

    screen.card(CARD)

    lines = file.getvalue().splitlines()
    frame = [line for line in lines if line[0] in "╭│╰"]
    assert {len(line) for line in frame} == {min(width, 110)}
    assert f"approve  rastro approvals approve {'0' * 64} --resume" in lines
    assert any("look here" in line for line in frame)


@pytest.mark.parametrize("width", [40, 61, 80, 110, 200])
def test_a_long_text_begins_no_line_of_its_own(width: int) -> None:
    """Each further piece of it is marked; put together they are the text, to the last letter."""
    screen, file = framed(width)
    note = "x" * 37 + " " * 70 + '"amount": 1,' + "日本" * 40

    screen.card(Card("pay", "pending", (row("zone", "red"), json_row("arguments", {"note": note}))))

    lines = [line.strip("│")[2:-2] for line in file.getvalue().splitlines() if line.startswith("│")]
    texts = [line[len("arguments  ") :] for line in lines if line.strip() and not line.startswith("zone")]
    begun = [text for text in texts if not text.startswith("↳ ")]
    assert [text.strip()[:1] for text in begun] == ["{", '"', "}"]
    joined = "".join(text.removeprefix("↳ ") if text.startswith("↳ ") else text for text in texts[1:-1])
    assert joined.replace(" ", "") == json.dumps({"note": note}, ensure_ascii=False)[1:-1].replace(" ", "")


def test_a_long_sentence_breaks_between_words() -> None:
    """What has no blank for long is broken where the room ends."""
    screen, file = framed(40)

    screen.card(Card("pay", "pending", (row("what", "the endpoint serves another version", "x" * 40),)))

    lines = [line.strip("│").strip() for line in file.getvalue().splitlines() if line.startswith("│")]
    assert [line for line in lines if line] == [
        *("what  the endpoint serves another", "↳ version"),
        *("x" * 28, f"↳ {'x' * 12}"),
    ]


def test_a_table_folds_on_a_narrow_terminal() -> None:
    """Nothing is cut."""
    screen, file = framed(30)
    long = "x" * 64

    screen.table(Table(("id", "n"), ((long, "1"),), frozenset({1})))

    assert "".join(file.getvalue().split()).replace("─", "").replace("1", "").count("x") == 64


def test_a_table_that_no_terminal_of_that_width_shows_is_written_row_by_row() -> None:
    """Each cell beside its heading, an empty line between two rows; with more room it is a table again."""
    rows = Table(("tool", *(f"number {digit}" for digit in "123")), (("refund_order", "1", "2", "3"), ("look", *"456")))
    screen, file = framed(30)

    screen.table(rows)

    assert [line.split() for line in file.getvalue().splitlines()] == [
        ["tool", "refund_order"],
        *(["number", digit, digit] for digit in "123"),
        [],
        ["tool", "look"],
        *(["number", digit, str(int(digit) + 3)] for digit in "123"),
    ]
    wide, file = framed(60)
    wide.table(rows)
    assert file.getvalue().splitlines()[0].split() == ["tool", "number", "1", "number", "2", "number", "3"]


def test_words_that_mean_danger_are_coloured() -> None:
    """A zone and a state have their colours, within a card and within a table."""
    screen, file = framed(colour=True)

    screen.card(CARD)
    screen.table(Table(("zone", "state"), (("red", "in_doubt"), ("green", "done"))))

    assert "\x1b[1;31mred" in file.getvalue()
    assert "\x1b[32mgreen" in file.getvalue()
    assert "\x1b[1;33mpending, 5 min left" in file.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_no_text_steers_or_begins_a_line(*, terminal: bool) -> None:
    """Not in a cell, a heading, a title, a badge, a warning, a row or a command; markup is a text like others."""
    screen, file = framed(400) if terminal else plain()

    screen.card(Card(EVIL, EVIL, (row(EVIL, EVIL), json_row("x", {EVIL: EVIL})), (EVIL,), ((EVIL, EVIL),)))
    screen.table(Table((EVIL, "n"), ((EVIL, EVIL),), title="t"))

    text = file.getvalue()
    assert "\x1b[31m" not in text
    assert "\u202e" not in text
    assert "[bold]x[/bold]" in text
    assert not any(line.lstrip("│ ").startswith("tab") for line in text.splitlines())


def plain() -> tuple[Screen, Written]:
    file = Written()
    return Screen(file.put), file


@given(st.text(st.characters()))
def test_a_line_stays_one_line(text: str) -> None:
    """Whatever ends lines somewhere is spelt out."""
    line = shown_line(text)

    assert len(f"x{line}x".splitlines()) == 1
    assert "\t" not in line


@given(st.dictionaries(st.text(st.characters()), st.text(st.characters())))
def test_a_document_is_json_on_one_line(document: dict[str, str]) -> None:
    """And means what it was."""
    screen, file = plain()

    screen.document(document)

    assert json.loads(file.getvalue()) == document
    assert file.getvalue().count("\n") == 1
    assert "\x1b" not in file.getvalue()


def test_what_is_written_to_a_pipe_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output that is no terminal loads nothing that draws."""
    standard(lambda text: print(text, end="")).table(TABLE)  # noqa: T201 - what a command does

    assert capsys.readouterr().out == tables.plain(TABLE)
    assert cards.width(()) == 0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3601, "1 h"),
        (14_399, "3 h 59 min"),
        (86_400, "1 d"),
        (90_000, "1 d 1 h"),
        (86_461, "1 d"),
        (8_640_000, "100 d"),
    ],
)
def test_a_length_of_time_has_two_units(seconds: int, said: str) -> None:
    """The largest, and the one below it."""
    assert lasting_seconds(seconds) == said
    assert lasting(timedelta(seconds=seconds)) == said


def test_now_is_as_exact_as_what_is_written() -> None:
    """A decision's moment is compared as it is kept."""
    assert now().microsecond % 1000 == 0
    assert now().utcoffset() == timedelta(0)
