"""Whatever became of index, document and archive, three facts say it of each passage, and none is guessed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from agent_image.contract import Regime
from agent_image.retrieval.archive import Archive
from agent_image.retrieval.chunks import Cut
from agent_image.retrieval.fingerprint import Fingerprint, fingerprint
from agent_image.retrieval.folder import Folder, FolderKnowledgeBase
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.passage import Address, Passage, addresses
from agent_image.telemetry.size import cut_to
from console.trace import phrases
from console.trace.archive import Kept, Lack, NoArchive, StoredArchive
from console.trace.facts import Facts, Index, IndexFact, Source, SourceFact, Text, TextFact
from console.trace.index_now import NoIndex, of_folder
from console.trace.lookup import LONG_BYTES
from console.trace.resolve import Resolver, Wanted, wanted_in
from console.trace.session import PassageRead, Retrieval, Session, ToolCall, Turn
from console.trace.sources.by_scheme import ByScheme
from console.trace.sources.files import Files
from console.trace.sources.media import Kind
from console.trace.sources.source import Content, Refused, Version, Why, missing, unreadable
from tests.console.trace.reference import lookalike
from tests.console.trace.sourced import Shelf, Takings

WORDS = "Thirty days, no questions."
MARK = fingerprint(WORDS)
URI = "s3://shop/returns.md"
DOCUMENT = f"# Returns\n\nUnused items:\n{WORDS}\nThe rest of it.\n".encode()
MARKDOWN = "text/markdown"


class Kepts:
    """An archive that has what it is given, and counts what it is asked."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept
        self.asked: list[int] = []

    def ask(self, wanted: Collection[Fingerprint]) -> Mapping[Fingerprint, Kept]:
        self.asked.append(len(wanted))
        return dict.fromkeys(wanted, self.kept)


def wanted(words: str = WORDS, uri: str = URI, text: str | None = None) -> Wanted:
    return Wanted(Address(uri, fingerprint(words)), uri, text)


def facts(document: bytes | Refused, kept: Kept, one: Wanted | None = None, surroundings: int = 0) -> Facts:
    content = document if isinstance(document, Refused) else Content(document, "returns.md")
    shelf = Shelf({URI: content})
    resolver = Resolver(shelf, Kepts(kept), NoIndex(), surroundings=surroundings)
    return resolver.facts([one or wanted()])[one or wanted()]


QUOTED = 'Say "no", and\nno more.'
NEVER = Kept(why=Lack.NEVER_STORED)
INTACT = SourceFact(Source.INTACT, media_type=MARKDOWN)
CHANGED = SourceFact(Source.CHANGED, media_type=MARKDOWN)
GONE = SourceFact(Source.MISSING, Why.NOT_FOUND)
CLOSED = SourceFact(Source.UNREADABLE, Why.ACCESS_DENIED)


@pytest.mark.parametrize(
    ("document", "kept", "text", "source"),
    [
        (DOCUMENT, NEVER, TextFact(Text.SOURCE, WORDS, Lack.NEVER_STORED), INTACT),
        (
            DOCUMENT,
            Kept("Thirty  days,\nno questions."),
            TextFact(Text.ARCHIVE, "Thirty  days,\nno questions."),
            INTACT,
        ),
        (b"Other words.", Kept(WORDS), TextFact(Text.ARCHIVE, WORDS), CHANGED),
        (b"Other words.", NEVER, TextFact(Text.NOT_RECOVERED, why=Lack.NEVER_STORED), CHANGED),
        (missing(Why.NOT_FOUND), Kept(WORDS), TextFact(Text.ARCHIVE, WORDS), GONE),
        (missing(Why.NOT_FOUND), Kept(why=Lack.ERASED), TextFact(Text.NOT_RECOVERED, why=Lack.ERASED), GONE),
        (unreadable(Why.ACCESS_DENIED), Kept(WORDS), TextFact(Text.ARCHIVE, WORDS), CLOSED),
        (unreadable(Why.ACCESS_DENIED), NEVER, TextFact(Text.NOT_RECOVERED, why=Lack.NEVER_STORED), CLOSED),
        (DOCUMENT, Kept(why=Lack.FORGED), TextFact(Text.SOURCE, WORDS, Lack.FORGED), INTACT),
    ],
)
def test_text_and_source_are_two_facts(
    document: bytes | Refused, kept: Kept, text: TextFact, source: SourceFact
) -> None:
    """Neither follows from the other: words come back where the source changed, and intact words may not be kept."""
    found = facts(document, kept)

    assert (found.text, found.source) == (text, source)


def test_words_of_the_trail_come_first_and_the_archive_is_not_asked() -> None:
    """Regime content holds them, as they were retrieved."""
    text, archive = "Thirty days,\n no questions.", Kepts(Kept("never asked"))
    one = wanted(text=text)

    found = Resolver(Shelf({}), archive, NoIndex()).facts([one])[one]

    assert found.text == TextFact(Text.TRAIL, text)
    assert archive.asked == []


def test_words_of_the_trail_that_were_cut_do_not_count() -> None:
    """A span that was too large holds a beginning; the words are those of the fingerprint or none."""
    assert facts(DOCUMENT, Kept(WORDS), wanted(text="Thirty da")).text == TextFact(Text.ARCHIVE, WORDS)


def test_surroundings_are_given_in_characters() -> None:
    """Normalised text before and after, no further than asked and than the document goes."""
    document = f"ä ö ü é {WORDS} ß 漢字".encode()

    near = facts(document, NEVER, surroundings=3).source
    far = facts(document, Kept(WORDS), surroundings=500).source

    assert (near.before, near.after) == (" é ", " ß ")
    assert (far.before, far.after) == ("ä ö ü é ", " ß 漢字")
    assert facts(document, NEVER).source.before == ""


def test_text_that_was_extracted_is_never_called_changed() -> None:
    """The extractor of the index may have seen other blanks: not found is all that can be said."""
    shelf = Shelf({URI: Content(b"%PDF-1.7 ...", "returns.pdf")})

    def found(takings: Takings) -> SourceFact:
        return Resolver(shelf, Kepts(NEVER), NoIndex(), extraction=takings.opened).facts([wanted()])[wanted()].source

    assert found(Takings([b"Other words."])) == SourceFact(
        Source.NOT_FOUND, media_type="application/pdf", extracted=True
    )
    assert found(Takings([b"Other", f"A {WORDS}".encode()])) == SourceFact(
        Source.INTACT, media_type="application/pdf", extracted=True
    )
    assert found(Takings(unreadable(Why.NO_TEXT))) == SourceFact(Source.UNREADABLE, Why.NO_TEXT, "application/pdf")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.json", json.dumps({"text": QUOTED})),
        ("a.jsonl", json.dumps({"text": QUOTED})),
        ("a.csv", 'id,text\n1,"Say ""no"", and\nno more."\n'),
        ("a.xml", "<text>Say &quot;no&quot;, and no more.</text>"),
        ("a.yaml", f"text: {json.dumps(QUOTED)}"),
    ],
)
def test_what_a_notation_may_write_otherwise_is_never_called_changed(name: str, written: str) -> None:
    """The passage stands there, escaped: a document of plain text without it has changed, and this one has not."""

    def source(content: Content) -> SourceFact:
        found = Resolver(Shelf({URI: content}), Kepts(NEVER), NoIndex(), extraction=Takings().opened)
        return found.facts([wanted(QUOTED)])[wanted(QUOTED)].source

    found = source(Content(written.encode(), name))

    assert (found.state, found.why, found.extracted) == (Source.NOT_FOUND, Why.NOTATION, False)
    assert phrases.source_words(found) == "not found in the text (written in a notation)"
    assert source(Content(QUOTED.encode(), name)).state is Source.INTACT
    assert source(Content(written.encode(), "a.md")).state is Source.CHANGED


def test_a_uri_that_was_cut_leads_to_no_document() -> None:
    """A span that is too long keeps fingerprints and cuts URIs: that nothing lies under the rest is not news."""
    uri = cut_to(URI, len(URI) - 1)
    cut = wanted(uri=uri)
    shelf = Shelf({})

    found = Resolver(shelf, Kepts(Kept(WORDS)), NoIndex(), extraction=Takings().opened).facts([cut])[cut]

    assert found.source == SourceFact(Source.UNREADABLE, Why.URI_CUT)
    assert (found.text.state, shelf.asked, shelf.asked_back) == (Text.ARCHIVE, {}, {})


def test_rich_text_is_no_text_whatever_its_name() -> None:
    """Its bytes are ASCII, and its words stand between marks."""
    for content in (Content(b"{\\rtf1 Thirty days}", "a.rtf"), Content(b"{\\rtf1 Thirty days}", "a.txt", "text/plain")):
        found = Resolver(Shelf({URI: content}), Kepts(NEVER), NoIndex(), extraction=Takings().opened)
        assert found.facts([wanted()])[wanted()].source == SourceFact(
            Source.UNREADABLE, Why.UNSUPPORTED, "application/rtf"
        )


def test_raw_markup_is_searched_too() -> None:
    """Some knowledge bases index a page as it was written: that was not extracted."""
    page = f"<html><body><p>{WORDS}</p></body></html>"
    raw = wanted(f"<p>{WORDS}</p>")
    takings = Takings([WORDS.encode()])

    shelf = Shelf({URI: Content(page.encode(), "a.html")})
    found = Resolver(shelf, NoArchive(), NoIndex(), extraction=takings.opened).facts([raw, wanted()])

    assert (found[raw].source.state, found[raw].source.extracted) == (Source.INTACT, False)
    assert (found[wanted()].source.state, found[wanted()].source.extracted) == (Source.INTACT, True)


@pytest.mark.parametrize("newest", [Content(b"Other words.", "returns.md", version="v9"), missing(Why.DELETED)])
def test_older_versions_are_searched_where_the_newest_lacks_the_passage(newest: Content | Refused) -> None:
    """The words come from the version that holds them; the source has changed, or is gone, all the same."""
    read: list[str] = []

    def version(id_: str, document: Content | Refused) -> Version:
        def reading() -> Content | Refused:
            read.append(id_)
            return document

        return Version(id_, f"2026-0{len(id_)}-01T00:00:00Z", reading)

    versions = [
        version("x", unreadable(Why.ACCESS_DENIED)),
        version("vv", Content(DOCUMENT, "returns.md")),
        version("www", Content(DOCUMENT, "returns.md")),
    ]
    shelf = Shelf({URI: newest}, {URI: versions})

    found = Resolver(shelf, Kepts(NEVER), NoIndex()).facts([wanted()])[wanted()]

    expected = Source.MISSING if isinstance(newest, Refused) else Source.CHANGED
    assert found.text == TextFact(Text.SOURCE, WORDS, Lack.NEVER_STORED)
    assert (found.source.state, found.source.version, found.source.version_time) == (
        expected,
        "vv",
        "2026-02-01T00:00:00Z",
    )
    assert found.source.why == (Why.DELETED if isinstance(newest, Refused) else "")
    assert read == ["x", "vv"]
    assert shelf.asked_back == {f"{URI}@{'' if isinstance(newest, Refused) else 'v9'}": 1}


def test_what_was_extracted_in_one_way_then_and_now_has_changed() -> None:
    """The same extractor finds it in the older version and not in the newest: that is no matter of blanks."""

    class AsItLies(Takings):
        def texts(self, kind: Kind, content: Content) -> Sequence[bytes] | Refused:
            return [content.data]

    newest, older = b"%PDF- Other words.", b"%PDF- " + WORDS.encode()
    version = Version("v1", "2026-01-01T00:00:00Z", lambda: Content(older, "a.pdf"))
    shelf = Shelf({URI: Content(newest, "a.pdf", version="v2")}, {URI: [version]})

    found = Resolver(shelf, NoArchive(), NoIndex(), extraction=AsItLies().opened).facts([wanted()])[wanted()]

    assert found.source == SourceFact(
        Source.CHANGED,
        media_type="application/pdf",
        extracted=True,
        version="v1",
        version_time="2026-01-01T00:00:00Z",
    )
    assert found.text.words == WORDS


def test_versions_that_may_not_be_listed_are_said() -> None:
    """The newest lacks the passage; whether an older one has it, nobody could see."""
    shelf = Shelf({URI: Content(b"Other words.", "a.md", version="v9")}, {URI: unreadable(Why.ACCESS_DENIED)})

    found = Resolver(shelf, NoArchive(), NoIndex()).facts([wanted()])[wanted()]

    assert (found.source.state, found.source.why) == (Source.CHANGED, Why.VERSIONS_NOT_READ)


def test_versions_are_left_alone_where_the_newest_has_all_or_cannot_be_read() -> None:
    """What is intact needs none, what is unreadable says nothing of then, what has no version has no other."""
    unversioned = Content(b"Other words.", "returns.md")
    for newest in (Content(DOCUMENT, "returns.md", version="v9"), unreadable(Why.ACCESS_DENIED), unversioned):
        shelf = Shelf({URI: newest}, {})
        Resolver(shelf, NoArchive(), NoIndex()).facts([wanted()])
        assert shelf.asked_back == {}


def test_a_document_that_was_made_to_take_for_ever_is_unreadable() -> None:
    """Nothing is said of what could not be searched whole."""
    ring = bytearray((n * n) % 251 for n in range(1 << 18))
    ring = bytearray(byte if byte not in b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x00" else 33 for byte in ring)
    ring = bytearray(33 + byte % 90 for byte in ring)
    ring[0] = 33 + (ring[0] - 33 - sum(ring)) % 256
    while ring[0] > 126:
        place = next(n for n in range(1, len(ring)) if ring[n] < 100)
        ring[place] += 20
        ring[0] = 33 + (ring[0] - 33 - 20) % 256
    document = bytes(ring) * 3
    mark = lookalike(document[: len(ring)])
    one = Wanted(Address(URI, mark), URI)

    found = Resolver(Shelf({URI: Content(document, "a.txt")}), NoArchive(), NoIndex()).facts([one])[one]

    assert (found.source.state, found.source.why) == (Source.UNREADABLE, Why.TOO_COSTLY)


def test_long_documents_are_made_ready_one_at_a_time() -> None:
    """Each takes some times its size: a few of them at once would be all the memory there is."""
    at_once, most = 0, 0

    class Slow(Takings):
        def texts(self, kind: Kind, content: Content) -> Sequence[bytes] | Refused:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            time.sleep(0.05)
            at_once -= 1
            return [WORDS.encode()]

    uris = [f"s3://shop/{n}.pdf" for n in range(4)]
    data = b"%PDF-" + bytes(LONG_BYTES)
    shelf = Shelf({uri: Content(data, "a.pdf") for uri in uris})

    found = Resolver(shelf, NoArchive(), NoIndex(), extraction=Slow().opened).facts([wanted(uri=uri) for uri in uris])

    assert {one.source.state for one in found.values()} == {Source.INTACT}
    assert most == 1


def test_each_document_is_read_and_prepared_once_and_many_at_a_time() -> None:
    """1,000 passages of 200 documents: 200 readings, several of them at once, and progress told."""
    uris = [f"s3://shop/{n}.html" for n in range(200)]
    texts = {uri: [f"Rule {k} of document {uri}." for k in range(5)] for uri in uris}
    asked = [wanted(text, uri) for uri, all_ in texts.items() for text in all_]
    together, told = threading.Barrier(4), list[str]()

    class Meeting(Shelf):
        def read(self, uri: str) -> Content | Refused:
            if uri in uris[:4]:
                together.wait(30)
            return super().read(uri)

    shelf = Meeting({uri: Content(" ".join(all_).encode(), "a.html") for uri, all_ in texts.items()})
    takings = Takings([b"Other words."])

    found = Resolver(shelf, NoArchive(), NoIndex(), threads=4, progress=told.append, extraction=takings.opened).facts(
        asked
    )

    assert len(found) == 1_000
    assert {one.source.state for one in found.values()} == {Source.INTACT}
    assert shelf.asked == dict.fromkeys(uris, 1)
    assert len(takings.asked) == 200
    assert told[-1] == "looked at 200 of 200 documents"


def test_one_passage_read_twice_is_two_facts_and_one_reading() -> None:
    """Two retrievals may have read it from two indexes; the same passage is asked of the archive once."""
    one, other = wanted(), Wanted(wanted().address, URI, index_version="v2", data_source="KB")
    shelf, archive = Shelf({URI: Content(DOCUMENT, "returns.md")}), Kepts(NEVER)

    found = Resolver(shelf, archive, NoIndex()).facts([one, other, one])

    assert set(found) == {one, other}
    assert found[other].index == IndexFact(Index.UNKNOWN, "v2", why="no_data_source")
    assert (shelf.asked[URI], archive.asked) == (1, [1])


def test_what_nobody_foresaw_of_one_document_hides_nothing_of_others() -> None:
    """A source that breaks is unreadable, and the rest is told."""

    class Broken(Shelf):
        def read(self, uri: str) -> Content | Refused:
            if uri == "s3://shop/broken.md":
                raise ZeroDivisionError
            return super().read(uri)

    broken = wanted(uri="s3://shop/broken.md")
    found = Resolver(Broken({URI: Content(DOCUMENT, "a.md")}), NoArchive(), NoIndex()).facts([broken, wanted()])

    assert found[broken].source == SourceFact(Source.UNREADABLE, Why.FAILED)
    assert found[wanted()].source.state is Source.INTACT


def test_nobody_looks_where_no_source_is_to_be_read() -> None:
    """That is said, and not that anything is intact; the archive is asked all the same."""
    found = Resolver(None, Kepts(Kept(WORDS)), NoIndex()).facts([wanted()])[wanted()]

    assert (found.source, found.text.state) == (SourceFact(Source.NOT_READ), Text.ARCHIVE)


def test_nothing_wanted_is_nothing_asked() -> None:
    """Regime metadata holds no addresses."""
    archive = Kepts(NEVER)

    assert Resolver(Shelf({}), archive, NoIndex()).facts([]) == {}
    assert archive.asked == []


def test_the_passages_of_a_session_are_wanted_once_each() -> None:
    """However deep their retrieval lies; what has no address cannot be looked up."""
    address = Address("returns.md", MARK)
    read = PassageRead(1, 1, str(address), address, URI, 0.5)
    foreign = PassageRead(None, 2, "doc-7", None, "", None)
    retrieval = Retrieval(title="r", data_source="KB", index_version="v1", passages=(read, read, foreign))
    none = Retrieval(title="r", passages=None)
    session = Session("s", (Regime.ADDRESS,), (Turn("run", steps=(ToolCall(title="t", children=(retrieval, none)),)),))

    assert wanted_in(session) == (Wanted(address, URI, None, "v1", "KB"),)


# --- end to end, over a real folder, index and archive ---------------------------------------------------------------


class Shop:
    """Hold a folder, its archive, and the passages that an old answer was reading."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "my shop #1"
        self.folder.mkdir()
        self.store = FolderPassageStore(root / "archive")
        for topic in ("returns", "shipping", "vouchers"):
            sentences = [f"Rule {n} of {topic} says that case {n} takes {n} days." for n in range(30)]
            (self.folder / f"{topic} 50%.md").write_text(f"# {topic}\n\n" + " ".join(sentences))
        passages, version = self.retrieve(Cut(300, 60))
        archive = Archive(self.store)
        archive.keep(passages)
        archive.close()
        base, found = addresses(passages)
        name = f"folder:{self.folder.name}"
        self.wanted = [Wanted(one, one.uri(base), None, version, name) for one in found]

    def retrieve(self, cut: Cut) -> tuple[tuple[Passage, ...], str]:
        base = FolderKnowledgeBase(Folder(self.folder, cut))
        try:
            found = base.retrieve("rule of returns, shipping and vouchers", 12)
        finally:
            base.close()
        assert found.index_version is not None
        return found.passages, found.index_version

    def facts(self, *, archive: bool = True, cut: Cut | None = None) -> Iterator[tuple[Wanted, Facts]]:
        store = StoredArchive(self.store) if archive else NoArchive()
        index = of_folder(Folder(self.folder, cut or Cut(300, 60)))
        yield from Resolver(ByScheme({"file": Files()}), store, index).facts(self.wanted).items()


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_nothing_changed(shop: Shop) -> None:
    """Then the words are in the archive, the source is intact and the index is the same."""
    assert {(one.text.state, one.source.state, one.index.state) for _, one in shop.facts()} == {
        (Text.ARCHIVE, Source.INTACT, Index.SAME)
    }


def test_another_window_loses_nothing(shop: Shop) -> None:
    """No passage of the new index is a passage of the old one, and every old one is found in its source."""
    again = {passage.fingerprint for passage in shop.retrieve(Cut(170, 20))[0]}
    assert not again & {one.address.fingerprint for one in shop.wanted}

    found = list(shop.facts(archive=False, cut=Cut(170, 20)))

    assert len(found) == 12
    assert {(one.text.state, one.source.state, one.index.state) for _, one in found} == {
        (Text.SOURCE, Source.INTACT, Index.REINDEXED)
    }
    assert {one.index.now for _, one in found} == {shop.retrieve(Cut(170, 20))[1]}


def test_edited_and_deleted_documents_are_told_apart_and_recovered(shop: Shop) -> None:
    """What the source holds no longer comes from the archive; an erased text is honestly lost."""
    edited = shop.folder / "returns 50%.md"
    edited.write_text(edited.read_text().replace("days", "weeks"))
    (shop.folder / "shipping 50%.md").unlink()
    expected = {
        "returns%2050%25.md": Source.CHANGED,
        "shipping%2050%25.md": Source.MISSING,
        "vouchers%2050%25.md": Source.INTACT,
    }
    assert {one.address.relative_uri for one in shop.wanted} == set(expected)

    for one, found in shop.facts():
        assert (found.text.state, found.source.state) == (Text.ARCHIVE, expected[one.address.relative_uri])
        assert found.text.words is not None
        assert fingerprint(found.text.words) == one.address.fingerprint
        assert found.index.state is Index.REINDEXED

    for one in shop.wanted:
        shop.store.erase(one.address.fingerprint.text)
    for one, found in shop.facts():
        intact = expected[one.address.relative_uri] is Source.INTACT
        assert found.text.state is (Text.SOURCE if intact else Text.NOT_RECOVERED)
        assert found.text.why == Lack.ERASED
        assert (found.text.words is not None) == intact
