"""On a laptop: ask, re-index, edit one document, delete another, deny access to a third, and trace."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_image.contract import Regime
from tests.story import shop
from tests.story.laptop import Laptop

GOLDENS = Path(__file__).parent / "goldens"
REGIMES = (Regime.ARCHIVE, Regime.ADDRESS, Regime.METADATA)


@pytest.fixture(scope="module")
def laptops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Regime, tuple[Laptop, str]]]:
    """Live the story once in each regime, beside each other; gives each laptop with the session that it is about."""

    def lived(regime: Regime) -> tuple[Laptop, str]:
        laptop = Laptop(tmp_path_factory.mktemp(regime.value), regime)
        laptop.answers()
        session = laptop.trace("--last", "--no-resolve", "--json").document["session"]["id"]
        laptop.time_passes()
        return laptop, session

    with ThreadPoolExecutor(len(REGIMES)) as pool:
        yield dict(zip(REGIMES, pool.map(lived, REGIMES), strict=True))


Laptops = dict[Regime, tuple[Laptop, str]]


def test_the_archive_has_the_words_whatever_became_of_the_source(laptops: Laptops) -> None:
    """Intact, changed, missing, unreadable: four sources, and each passage as it was read."""
    laptop, session = laptops[Regime.ARCHIVE]

    found = {Path(one["uri"]).name: one for one in laptop.trace("--session", session, "--json").passages()}

    assert {name: one["source"]["state"] for name, one in found.items()} == {
        shop.INTACT: "intact",
        shop.CHANGED: "changed",
        shop.DELETED: "missing",
        shop.DENIED: "unreadable",
    }
    assert {one["text"]["state"] for one in found.values()} == {"archive"}
    assert {one["index"]["state"] for one in found.values()} == {"reindexed"}
    assert all(shop.PASSAGES[name] in one["text"]["words"] for name, one in found.items())


def test_an_address_leads_to_the_words_while_the_source_holds_them(laptops: Laptops) -> None:
    """What the source lost is not recovered, and the command says so."""
    laptop, session = laptops[Regime.ADDRESS]

    found = {Path(one["uri"]).name: one for one in laptop.trace("--session", session, "--json").passages()}

    assert {name: one["text"]["state"] for name, one in found.items()} == {
        shop.INTACT: "source",
        shop.CHANGED: "not_recovered",
        shop.DELETED: "not_recovered",
        shop.DENIED: "not_recovered",
    }
    assert shop.PASSAGES[shop.INTACT] in found[shop.INTACT]["text"]["words"]
    assert laptop.trace("--session", session, "--strict").status == 4


@pytest.mark.parametrize("regime", REGIMES)
def test_a_person_reads_the_story(laptops: Laptops, regime: Regime) -> None:
    """The whole of it, as it stands in a pipe; `metadata` says that nobody can know."""
    laptop, session = laptops[regime]

    shown = laptop.trace("--session", session, "--text").golden((str(laptop.folder), "FOLDER"), (session, "SESSION"))

    assert shown == (GOLDENS / f"laptop-{regime}.txt").read_text()


def test_a_pasted_answer_leads_to_its_session(laptops: Laptops, tmp_path: Path) -> None:
    """No content is stored: the answer's fingerprint finds it."""
    laptop, session = laptops[Regime.ADDRESS]
    pasted = tmp_path / "answer.txt"
    pasted.write_text(laptop.answer)

    ran = laptop.trace("--answer", str(pasted), "--no-resolve", "--json")

    assert session in {ran.document["session"]["id"], *ran.document["others"]}


def test_a_passage_leads_to_the_sessions_that_read_it(laptops: Laptops) -> None:
    """The document that was edited was read once before, and not since."""
    laptop, session = laptops[Regime.ARCHIVE]
    (changed,) = [
        one for one in laptop.trace("--session", session, "--json").passages() if Path(one["uri"]).name == shop.CHANGED
    ]

    shown = laptop.trace("--chunk", changed["fingerprint"]).output

    assert session in shown
    assert "1 session" in shown
