"""Whatever became of index, document and archive, each passage of an old answer is found again or said to be lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from agent_image.retrieval.archive import Archive
from agent_image.retrieval.chunks import Cut
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.folder import Folder, FolderKnowledgeBase
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.passage import Address, Passage, addresses
from agent_image.retrieval.recovery import Recovery, Source, Text, recover

WORDS = "Thirty days, no questions."
DOCUMENT = f"# Returns\n\n{WORDS}\n"


@pytest.mark.parametrize(
    ("document", "archived", "expected"),
    [
        (DOCUMENT, None, Recovery(Text.SOURCE, Source.INTACT, WORDS)),
        (DOCUMENT, WORDS, Recovery(Text.ARCHIVE, Source.INTACT, WORDS)),
        ("Other words.", WORDS, Recovery(Text.ARCHIVE, Source.CHANGED, WORDS)),
        (Source.MISSING, WORDS, Recovery(Text.ARCHIVE, Source.MISSING, WORDS)),
        (Source.UNREADABLE, None, Recovery(Text.NOT_RECOVERED, Source.UNREADABLE, None)),
        ("Other words.", None, Recovery(Text.NOT_RECOVERED, Source.CHANGED, None)),
        (Source.MISSING, "forged words", Recovery(Text.NOT_RECOVERED, Source.MISSING, None)),
        (DOCUMENT, "forged words", Recovery(Text.SOURCE, Source.INTACT, WORDS)),
    ],
)
def test_text_and_source_are_two_facts(document: str | Source, archived: str | None, expected: Recovery) -> None:
    """Words may be recovered from a source that changed, and words under another's fingerprint never count."""
    assert recover(fingerprint(WORDS), document, archived and archived.encode()) == expected  # type: ignore[arg-type]


# --- end to end, over a real folder, index and archive ---------------------------------------------------------------


class Shop:
    """Hold a folder, its archive, and the addresses that an old answer left."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "shop"
        self.folder.mkdir()
        self.store = FolderPassageStore(root / "archive")
        for topic in ("returns", "shipping", "vouchers"):
            sentences = [f"Rule {n} of {topic} says that case {n} takes {n} days." for n in range(30)]
            (self.folder / f"{topic}.md").write_text(f"# {topic}\n\n" + " ".join(sentences))
        passages = self.retrieve(Cut(300, 60))
        archive = Archive(self.store)
        archive.keep(passages)
        archive.close()
        self.base, self.addresses = addresses(passages)

    def retrieve(self, cut: Cut) -> tuple[Passage, ...]:
        base = FolderKnowledgeBase(Folder(self.folder, cut))
        try:
            return base.retrieve("rule of returns, shipping and vouchers", 12).passages
        finally:
            base.close()

    def document(self, address: Address) -> str | Source:
        try:
            return Path(unquote(urlsplit(address.uri(self.base)).path)).read_text()
        except FileNotFoundError:
            return Source.MISSING

    def recovered(self, *, archive: bool = True) -> Iterator[tuple[Address, Recovery]]:
        for address in self.addresses:
            archived = self.store.get(address.fingerprint.text) if archive else None
            yield address, recover(address.fingerprint, self.document(address), archived)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_another_window_loses_nothing(shop: Shop) -> None:
    """No passage of the new index is a passage of the old one, and every old one is found in its source."""
    again = addresses(shop.retrieve(Cut(170, 20)))[1]
    assert not {one.fingerprint for one in again} & {one.fingerprint for one in shop.addresses}

    found = [recovery for _, recovery in shop.recovered(archive=False)]

    assert len(found) == 12
    assert {(one.text, one.source) for one in found} == {(Text.SOURCE, Source.INTACT)}


def test_edited_and_deleted_documents_are_told_apart_and_recovered(shop: Shop) -> None:
    """What the source holds no longer comes from the archive; an erased text is honestly lost."""
    edited = shop.folder / "returns.md"
    edited.write_text(edited.read_text().replace("days", "weeks"))
    (shop.folder / "shipping.md").unlink()
    expected = {"returns.md": Source.CHANGED, "shipping.md": Source.MISSING, "vouchers.md": Source.INTACT}
    assert {address.relative_uri for address in shop.addresses} == set(expected)

    for address, recovery in shop.recovered():
        assert (recovery.text, recovery.source) == (Text.ARCHIVE, expected[address.relative_uri])
        assert recovery.words is not None
        assert fingerprint(recovery.words) == address.fingerprint

    for address in shop.addresses:
        shop.store.erase(address.fingerprint.text)
    for address, recovery in shop.recovered():
        intact = expected[address.relative_uri] is Source.INTACT
        assert recovery.text is (Text.SOURCE if intact else Text.NOT_RECOVERED)
        assert (recovery.words is not None) == intact
