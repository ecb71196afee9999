"""Text is taken out of documents in the ways in which knowledge bases take it, and no document harms who asks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import psutil
import pytest

from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.passage import Address
from console.trace.archive import NoArchive
from console.trace.documents import Document, prepared
from console.trace.index_now import NoIndex
from console.trace.resolve import Resolver, Wanted
from console.trace.sources.extractors import Extractors, extractors
from console.trace.sources.media import Kind, kind_of, media_type_of
from console.trace.sources.source import Content, Refused, Why, unreadable
from tests.console.trace.sourced import Shelf
from tests.console.trace.written import paragraph, pdf, run, scanned, with_parts, word

MIB = 1 << 20
MODULE = "console.trace.sources.extracting"


@pytest.fixture(scope="module")
def children() -> Iterator[Extractors]:
    with extractors() as found:
        yield found


def holds(children: Extractors, content: Content, *passages: str) -> list[bool]:
    document = prepared(content, children)
    assert isinstance(document, Document), document
    assert document.extracted
    return [document.find(fingerprint(passage), None, 0) is not None for passage in passages]


# --- what it is


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (Content(b"# Title", "a.md"), Kind.TEXT),
        (Content(b"# Title", "a.md", "binary/octet-stream"), Kind.TEXT),
        (Content(b"<p>x", "a.html", "text/plain"), Kind.HTML),
        (Content(b"<p>x", "a", "text/html"), Kind.HTML),
        (Content(b"<!-- x -->\n<!DOCTYPE html><p>x", "a"), Kind.HTML),
        (Content(b"<html", "a", "application/octet-stream"), Kind.HTML),
        (Content(b"<?xml version='1.0'?><x/>", "a.xml"), Kind.TEXT),
        (Content(b"a,b", "a.csv"), Kind.TEXT),
        (Content(b"{}", "a", "application/vnd.api+json"), Kind.TEXT),
        (Content(b"words", "README"), Kind.TEXT),
        (Content(b"%PDF-1.7", "a.txt", "text/plain"), Kind.PDF),
        (Content(b"PK\x03\x04", "a.docx"), Kind.WORD),
        (Content(b"\xd0\xcf\x11\xe0", "a.docx"), Kind.WORD),
        (Content(b"\xd0\xcf\x11\xe0", "a.doc", "application/msword"), Kind.UNSUPPORTED),
        (Content(b"PK\x03\x04", "a.xlsx"), Kind.UNSUPPORTED),
        (Content(b"PK\x03\x04", "a.txt", "text/plain"), Kind.UNSUPPORTED),
        (Content(b"\x89PNG\r\n\x1a\n\x00", "a.png", "image/png"), Kind.UNSUPPORTED),
        (Content(b"\x89PNG\r\n\x1a\n\x00", "a"), Kind.UNSUPPORTED),
        (Content(b"{\\rtf1}", "a", "text/rtf"), Kind.UNSUPPORTED),
        (Content(b"?", "a", "audio/mpeg"), Kind.UNSUPPORTED),
    ],
)
def test_what_it_is_is_told_by_its_beginning_its_server_and_its_name(content: Content, kind: Kind) -> None:
    """Servers call much of it plain text, or nothing at all."""
    assert kind_of(media_type_of(content)) is kind


def test_what_no_text_is_taken_from_is_unreadable() -> None:
    """An image may hold any words."""
    assert prepared(Content(b"?", "a.png", "image/png"), Extractors(1, 1, 1)) == unreadable(Why.UNSUPPORTED)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (Content("Grüße".encode("latin-1"), "a.txt", charset="iso-8859-1"), "Grüße"),
        (Content("Grüße".encode(), "a.txt", charset="iso-8859-1"), "Grüße"),
        (Content("Grüße".encode("utf-16"), "a.txt"), "Grüße"),
        (Content("Grüße".encode("utf-8-sig"), "a.txt"), "Grüße"),
        (Content("Grüße".encode("utf-16-le"), "a.txt", charset="UTF-16LE"), "Grüße"),
        (Content("Grüße".encode("latin-1"), "a.txt"), None),
        (Content("Grüße".encode("latin-1"), "a.txt", charset="no-such"), None),
        (Content("Grüße".encode("utf-16-le"), "a.txt"), None),
        (Content("Words".encode("utf-16-le"), "a.txt"), None),
        (Content(b"", "a.txt"), ""),
    ],
)
def test_text_is_decoded_or_called_none(content: Content, expected: str | None) -> None:
    """What does not decode in any encoding that it names is unreadable: nothing is said of it."""
    document = prepared(content, Extractors(1, 1, 1))

    if expected is None:
        assert document == unreadable(Why.NOT_TEXT)
    else:
        assert isinstance(document, Document)
        assert [text.data.decode() for text in document.texts] == [expected]
        assert not document.extracted


# --- HTML

PAGE = """<!doctype html><html><head><title>Shop</title><style>p{color:red}</style></head><body><nav>Home</nav>
<h1>Returns</h1><p>Thirty <b>day</b>s, no <i>quest</i>ions.</p><ul><li>One</li><li>Two &amp; three</li></ul>
<script>var hidden = 1;</script><template>Not shown</template><!-- a remark --><table><tr><td>A</td><td>B</td></tr>
</table></body></html>"""


@pytest.mark.parametrize(
    ("passage", "is_there"),
    [
        ("Thirty days, no questions.", True),
        ("Thirty day s, no quest ions.", True),
        ("Returns Thirty days, no questions. One Two & three", True),
        ("One Two & three", True),
        ("OneTwo & three", True),
        ("A B", True),
        ("Home Returns Thirty", True),
        ("Shop Home", True),
        ("<h1>Returns</h1>", True),
        ("<li>Two &amp; three</li>", True),
        ("a remark", True),
        ("Thirty weeks", False),
        ("Not shown One", False),
    ],
)
def test_a_page_is_read_in_several_ways_and_as_it_was_written(
    children: Extractors, passage: str, *, is_there: bool
) -> None:
    """Extractors differ in where they see a blank; some knowledge bases index the markup."""
    assert holds(children, Content(PAGE.encode(), "a.html"), passage) == [is_there]


@pytest.mark.parametrize(
    "content",
    [
        Content('<meta charset="iso-8859-1"><p>Grüße'.encode("latin-1"), "a.html"),
        Content("<html><p>Grüße".encode("latin-1"), "a.html", charset="ISO-8859-1"),
        Content('<meta content="text/html; charset=utf-16"><p>Grüße'.encode(), "a.html"),
        Content("<html><p>Grüße".encode("utf-16"), "a.html"),
    ],
)
def test_a_page_says_how_it_is_encoded(children: Extractors, content: Content) -> None:
    """By its mark, its bytes, its server or itself."""
    assert holds(children, content, "Grüße") == [True]


def test_a_page_in_no_known_encoding_is_no_text(children: Extractors) -> None:
    """Nothing is guessed."""
    assert prepared(Content("<html><p>Grüße".encode("latin-1"), "a.html"), children) == unreadable(Why.NOT_TEXT)


def test_a_page_that_holds_pictures_alone_has_no_text(children: Extractors) -> None:
    """Its markup may still be what was indexed; its text is empty."""
    assert prepared(Content(b"<html><img src=a.png>", "a.html"), children) == unreadable(Why.NO_TEXT)


def test_a_page_nested_without_end_is_read_or_said_not_to_be(children: Extractors) -> None:
    """The command goes on."""
    page = b"<div>" * 100_000 + b"deep"

    found = prepared(Content(page, "a.html"), children)

    assert isinstance(found, Document) or found.why in {Why.TOO_COSTLY, Why.MALFORMED}


# --- PDF


def test_a_pdf_is_read_page_by_page(children: Extractors) -> None:
    """Passages run over lines and pages; hyphens at a line's end stay."""
    document = pdf(["Returns", "Thirty days, no ques-", "tions."], ["The second page."])

    assert holds(
        children,
        Content(document, "a.pdf"),
        "Returns Thirty days,",
        "no ques- tions.",
        "tions. The second page.",
        "no questions.",
    ) == [True, True, True, False]


def test_a_scanned_pdf_has_no_text(children: Extractors) -> None:
    """It is not: nothing was found in it."""
    assert prepared(Content(scanned(), "a.pdf"), children) == unreadable(Why.NO_TEXT)


def test_an_encrypted_pdf_is_unreadable_unless_it_opens_without_a_password(children: Extractors) -> None:
    """Many are encrypted against changes alone."""
    assert prepared(Content(pdf(["Words."], password="secret"), "a.pdf"), children) == unreadable(Why.ENCRYPTED)  # noqa: S106 - of this page alone
    assert holds(children, Content(pdf(["Words."], password=""), "a.pdf"), "Words.") == [True]


@pytest.mark.parametrize("data", [b"%PDF-1.7\nnonsense", pdf(["Words."])[:300], b"%PDF-1.7\n%%EOF"])
def test_a_broken_pdf_is_malformed(children: Extractors, data: bytes) -> None:
    """Not: without text."""
    assert prepared(Content(data, "a.pdf"), children) == unreadable(Why.MALFORMED)


# --- Word


def _letter(document: Any) -> None:
    document.add_heading("Returns")
    document.add_paragraph("Thirty days, no questions.")
    table = document.add_table(2, 2)
    for cell, text in zip((cell for row in table.rows for cell in row.cells), "ABCD", strict=True):
        cell.text = text
    table.cell(1, 1).add_table(1, 1).cell(0, 0).text = "inner"
    document.add_paragraph("After the table.")
    document.sections[0].header.paragraphs[0].text = "The header."
    document.sections[0].footer.paragraphs[0].text = "The footer."


def test_a_word_document_is_read_with_what_stands_around_it(children: Extractors) -> None:
    """Headings, tables, tables in tables, headers and footers."""
    assert all(
        holds(
            children,
            Content(word(_letter), "a.docx"),
            "Returns Thirty days, no questions. A B C D",
            "inner After the table.",
            "The header.",
            "The footer.",
        )
    )


def test_boxes_insertions_and_notes_of_a_word_document_are_read(children: Extractors) -> None:
    """What the document's own list of paragraphs passes over."""
    box = paragraph(f"{run('Beside. ')}<w:r><w:txbxContent>{paragraph(run('In a box.'))}</w:txbxContent></w:r>")
    control = f"<w:sdt><w:sdtContent>{paragraph(run('In a control.'))}</w:sdtContent></w:sdt>"
    inserted = paragraph(f"{run('Was ')}<w:ins w:id='1' w:author='a'>{run('inserted')}</w:ins>{run(' later.')}")
    document = with_parts(word(_letter), box + control + inserted, "In a note.")

    assert all(
        holds(
            children,
            Content(document, "a.docx"),
            *("In a box.", "Beside.", "In a control.", "Was inserted later.", "In a note."),
        )
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"PK\x03\x04nonsense", Why.MALFORMED),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, Why.ENCRYPTED),
        (word(lambda _: None), Why.NO_TEXT),
    ],
)
def test_a_word_document_that_cannot_be_read_says_why(children: Extractors, data: bytes, why: Why) -> None:
    """A password, nonsense, or nothing in it."""
    assert prepared(Content(data, "a.docx"), children) == unreadable(why)


def test_no_entity_of_a_word_document_reads_a_file(children: Extractors) -> None:
    """What it names is not looked at."""
    document = with_parts(word(_letter))
    into = BytesIO()
    with ZipFile(BytesIO(document)) as old, ZipFile(into, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/document.xml":
                data = data.replace(
                    b"<w:document", b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document', 1
                )
                data = data.replace(b"no questions.", b"no &e; questions.", 1)
            new.writestr(name, data)

    found = prepared(Content(into.getvalue(), "a.docx"), children)

    assert isinstance(found, Refused) or all(b"root:" not in text.data for text in found.texts)


# --- what harms


def bomb(size: int) -> bytes:
    """Make a Word document of some kilobytes that unpacks to `size` bytes."""
    into = BytesIO()
    with ZipFile(BytesIO(word(_letter))) as old, ZipFile(into, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != "word/document.xml":
                new.writestr(name, old.read(name))
        new.writestr("word/document.xml", b" " * size)
    return into.getvalue()


def test_a_document_that_unpacks_to_all_memory_is_given_up_and_the_next_is_read() -> None:
    """The child's memory ends before this machine's does."""
    with extractors(memory_bytes=250 * MIB) as children:
        found = prepared(Content(bomb(300 * MIB), "a.docx"), children)
        after = prepared(Content(word(_letter), "b.docx"), children)

    assert found == unreadable(Why.TOO_COSTLY)
    assert isinstance(after, Document)


def alive() -> list[psutil.Process]:
    """List the children of this process that take text out of documents."""
    return [one for one in psutil.Process().children() if MODULE in one.cmdline()]


def _slow_page(size: int) -> bytes:
    return b"<html>" + b"<p>x" * size


@pytest.mark.parametrize("limit", [{"cpu_seconds": 1}, {"wall_seconds": 1.0}])
def test_a_document_that_takes_too_long_is_given_up_and_the_next_is_read(limit: dict[str, Any]) -> None:
    """By the processor's time and by the clock's."""
    with extractors(**limit) as children:
        found = prepared(Content(_slow_page(200_000), "a.html"), children)
        after = prepared(Content(b"<html><p>x", "b.html"), children)

    assert found == unreadable(Why.TOO_COSTLY)
    assert isinstance(after, Document)


def test_children_are_used_again_and_end_with_who_started_them() -> None:
    """As many as documents at a time, whatever their number; none is left."""
    pages, before = [Content(f"<html><p>Page {n}.".encode(), "a.html") for n in range(40)], set(alive())
    with extractors() as children:
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda page: children.texts(Kind.HTML, page), pages))
        mine = set(alive()) - before
    gone, left = psutil.wait_procs(mine, 10)

    assert [_first(texts) for texts in found] == [f"Page {n}." for n in range(40)]
    assert 1 <= len(mine) <= 3
    assert (len(gone), left) == (len(mine), [])


def test_whoever_stops_the_command_waits_for_no_document() -> None:
    """A document in hand is let go, and its child ends."""
    slow, before = _slow_page(200_000), set(alive())
    shelf = Shelf({"slow.html": Content(slow, "a.html"), "quick.md": Content(b"Words.", "a.md")})

    def stop(_text: str) -> None:
        deadline = time.monotonic() + 30
        while not set(alive()) - before and time.monotonic() < deadline:
            time.sleep(0.01)
        raise KeyboardInterrupt

    wanted = [Wanted(Address(uri, fingerprint("Words.")), uri) for uri in shelf.documents]
    with pytest.raises(KeyboardInterrupt):
        Resolver(shelf, NoArchive(), NoIndex(), progress=_after_archive(stop)).facts(wanted)

    assert psutil.wait_procs(set(alive()) - before, 10)[1] == []


def _after_archive(stop: Callable[[str], None]) -> Callable[[str], None]:
    return lambda text: stop(text) if text.startswith("looked at") else None


def _first(texts: Sequence[bytes] | Refused) -> str:
    assert not isinstance(texts, Refused)
    return texts[0].decode()


def test_a_child_gets_no_secrets_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that takes it over finds no credentials in its surroundings."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example-secret")
    with extractors() as children:
        before = set(alive())
        children.texts(Kind.HTML, Content(b"<html><p>x", "a.html"))
        (child,) = set(alive()) - before
        assert "AWS_SECRET_ACCESS_KEY" not in child.environ()


def test_a_child_runs_nothing_of_the_folder_that_somebody_works_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It may be a folder of documents from elsewhere, with a module among them that is named like a library."""
    for name in ("bs4", "json", "resource"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)

    with extractors() as found:
        texts = found.texts(Kind.HTML, Content(b"<p>Words.</p>", "a.html"))

    assert texts == [b"Words."]
    assert not (tmp_path / "ran").exists()


def test_a_child_whose_parent_is_gone_ends() -> None:
    """However the command ended."""
    program = (
        "import os, psutil\n"
        "from console.trace.sources.extractors import Extractors\n"
        "from console.trace.sources.media import Kind\n"
        "from console.trace.sources.source import Content\n"
        "children = Extractors(60, 60, 1 << 31)\n"
        "children.texts(Kind.HTML, Content(b'<html><p>x'))\n"
        "print(psutil.Process().children()[0].pid, flush=True)\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    pid, deadline = int(done.stdout), time.monotonic() + 10

    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert os.getpid() != pid
