"""A hook's model reads and searches one file, and gets no more than fits into an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_image.hooks.transcript_tools import LENGTH, LINE_LENGTH, LINES, Refused, TranscriptFile


def written(folder: Path, text: str) -> tuple[TranscriptFile, str]:
    path = folder / "transcript.txt"
    path.write_text(text, encoding="utf-8")
    return TranscriptFile(path), str(path)


def test_lines_are_read_with_their_numbers(tmp_path: Path) -> None:
    """A model that knows where it is can go on from there."""
    file, path = written(tmp_path, "[1] user\n    Hello\n[2] assistant\n    Hi\n")

    assert file.read(path) == "1: [1] user\n2:     Hello\n3: [2] assistant\n4:     Hi"
    assert file.read(path, 2, 2) == "2:     Hello\n3: [2] assistant\n(The file has 4 lines; go on with offset 4.)"
    assert file.read(path, 4, 9) == "4:     Hi"


@pytest.mark.parametrize("limit", [0, -5])
def test_a_limit_of_nothing_is_one_line(tmp_path: Path, limit: int) -> None:
    """A model that asks for nothing gets on all the same."""
    file, path = written(tmp_path, "a\nb\n")

    assert file.read(path, 1, limit) == "1: a\n(The file has 2 lines; go on with offset 2.)"


@pytest.mark.parametrize("offset", [0, -1, 3, 10**9])
def test_a_line_that_there_is_not_is_refused(tmp_path: Path, offset: int) -> None:
    """It hears how many there are."""
    file, path = written(tmp_path, "a\nb\n")

    with pytest.raises(Refused, match=f"There is no line {offset}: the file has 2."):
        file.read(path, offset)


def test_a_search_finds_words_as_they_stand_in_any_case(tmp_path: Path) -> None:
    """What would be a pattern elsewhere is text here."""
    file, path = written(tmp_path, "I PAY 5\nno\nyou pay.*\nStraße\n")

    assert file.search(path, "pay") == "1: I PAY 5\n3: you pay.*"
    assert file.search(path, "pay.*") == "3: you pay.*"
    assert file.search(path, "STRASSE") == "4: Straße"
    assert file.search(path, "pay", 2) == "3: you pay.*"
    assert file.search(path, "(a+)+$") == "(No line holds this text.)"


def test_a_search_for_nothing_is_refused(tmp_path: Path) -> None:
    """It would find everything."""
    file, path = written(tmp_path, "a\n")

    with pytest.raises(Refused, match="nothing to search for"):
        file.search(path, "")


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "transcript.txt",
        "{folder}/other.txt",
        "{folder}/link.txt",
        "{folder}/../{name}/transcript.txt",
        "{folder}/./transcript.txt",
        "{folder}//transcript.txt",
        "{folder}/transcript.txt\x00",
        "file://{folder}/transcript.txt",
        "{folder}",
        "",
    ],
)
def test_no_other_file_is_read_by_whatever_name(tmp_path: Path, name: str) -> None:
    """Not even the same one by another name."""
    file, path = written(tmp_path, "a\n")
    (tmp_path / "other.txt").write_text("secret")
    (tmp_path / "link.txt").symlink_to(path)
    asked = name.format(folder=tmp_path, name=tmp_path.name)

    with pytest.raises(Refused) as refused:
        file.read(asked)
    assert str(refused.value) == f"Only this file can be read: {path}"
    with pytest.raises(Refused, match="Only this file"):
        file.search(asked, "a")


def test_an_answer_has_so_many_lines_and_so_many_characters_at_most(tmp_path: Path) -> None:
    """A model's context is finite, and its tokens are paid for."""
    file, path = written(tmp_path, "short\n" * (LINES + 5))
    told = file.read(path, 1, 10**9).splitlines()
    assert len(told) == LINES + 1
    assert told[-1] == f"(The file has {LINES + 5} lines; go on with offset {LINES + 1}.)"
    found = file.search(path, "short").splitlines()
    assert len(found) == LINES + 1
    assert found[-1] == f"({LINES + 5} lines hold this text; go on with offset {LINES + 1}.)"

    file, path = written(tmp_path, ("x" * (LINE_LENGTH + 1) + "\n") * 100)
    for text in (file.read(path), file.search(path, "xx")):
        *lines, last = text.splitlines()
        assert all(line.endswith("x (cut)") and len(line) < LINE_LENGTH + 20 for line in lines)
        assert len("".join(lines)) <= LENGTH
        assert f"go on with offset {len(lines) + 1}." in last


def test_to_go_on_reaches_every_line_once(tmp_path: Path) -> None:
    """What one answer does not hold, the next ones do."""
    file, path = written(tmp_path, "".join(f"{n} {'x' * (n % 3_000)}\n" for n in range(1_000)))
    seen: list[int] = []
    offset = 1
    while offset <= 1_000:
        numbers = [int(line.split(":")[0]) for line in file.read(path, offset).splitlines() if line[0] != "("]
        seen += numbers
        offset = numbers[-1] + 1

    assert seen == list(range(1, 1_001))


@pytest.mark.parametrize("end", ["\r", "\v", "\x0c", "\x85", "\u2028"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, end: str) -> None:
    """The transcript ends its lines so; anything else stood within one."""
    path = tmp_path / "t"
    path.write_bytes(f"a{end}b\nc\n".encode())

    assert TranscriptFile(path).read(str(path)) == f"1: a{end}b\n2: c"


def test_a_file_that_is_missing_or_empty_holds_nothing(tmp_path: Path) -> None:
    """Then a hook's model gets no tools."""
    file, path = written(tmp_path, "")
    assert not file.exists
    assert not TranscriptFile(tmp_path / "none").exists
    assert not TranscriptFile(tmp_path).exists
    Path(path).write_text("a", encoding="utf-8")
    assert file.exists
