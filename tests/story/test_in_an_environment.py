"""In an environment: the same story over a local AWS: a bucket of documents, an archive, a table, Logs Insights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_image.contract import Regime
from tests.loopback.aws import moto
from tests.loopback.denying import denying
from tests.loopback.insights import Insights, querying
from tests.story import shop
from tests.story.command import Ran, rastro
from tests.story.deployed import ANSWER, GROUP, SESSION, Deployed, deployed

GOLDENS = Path(__file__).parent / "goldens"
REGIMES = (Regime.ARCHIVE, Regime.METADATA)


@dataclass
class Scene:
    """Hold an environment whose agent answered, and whose trail lies in Logs Insights."""

    place: Deployed
    insights: Insights

    def trace(self, *options: str) -> Ran:
        """Trace as a person with credentials does."""
        variables = {**self.place.variables(), **self.insights.variables()}
        return rastro("trace", "--environment", self.place.name, "--since", "2h", *options, variables=variables)


@pytest.fixture(scope="module", params=REGIMES, ids=str)
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Live the story once in each regime."""
    with ExitStack() as stack:
        aws = stack.enter_context(moto())
        gate = stack.enter_context(denying(aws))
        place = stack.enter_context(deployed(aws, gate, request.param))
        insights = stack.enter_context(querying(Insights()))
        place.answer(tmp_path_factory.mktemp("deployed"))
        insights.put_spans(GROUP, place.spans)
        insights.put_events(GROUP, place.printed)
        place.time_passes()
        yield Scene(place, insights)


def test_each_source_is_what_it_is_and_the_archive_has_the_words(scene: Scene) -> None:
    """Intact, changed, missing, unreadable; under `metadata` there is no passage to tell of."""
    ran = scene.trace("--session", SESSION, "--json")

    assert ran.status == 0, ran.errors
    found = {Path(one["uri"]).name: one for one in ran.passages()}
    if scene.place.regime is Regime.METADATA:
        assert found == {}
        return
    assert {name: one["source"]["state"] for name, one in found.items()} == {
        shop.INTACT: "intact",
        shop.CHANGED: "changed",
        shop.DELETED: "missing",
        shop.DENIED: "unreadable",
    }
    assert found[shop.DENIED]["source"]["why"] == "access_denied"
    assert {name: one["text"]["words"] for name, one in found.items()} == shop.PASSAGES
    assert {(one["index"]["state"], one["index"]["now"]) for one in found.values()} == {
        ("reindexed", "JOB0000002@2026-11-02T08:00:00Z")
    }


def test_a_person_reads_the_story(scene: Scene) -> None:
    """The whole of it, as it stands in a pipe, with what reading it took."""
    shown = scene.trace("--session", SESSION, "--text").golden((SESSION, "SESSION"))

    assert shown == (GOLDENS / f"environment-{scene.place.regime}.txt").read_text()


def test_a_pasted_answer_leads_to_its_session(scene: Scene, tmp_path: Path) -> None:
    """Its marks may be gone, and its lines broken elsewhere: the fingerprint is of its words."""
    pasted = tmp_path / "answer.txt"
    pasted.write_text(ANSWER.replace(" [1]", "").replace(". ", ".\n"))

    ran = scene.trace("--answer", str(pasted), "--no-resolve", "--json", "--yes")

    assert ran.status == 0, ran.errors
    assert ran.document["session"]["id"] == SESSION


def test_the_trail_holds_what_the_agent_did_and_not_how_the_kit_remembers_it(scene: Scene) -> None:
    """Calls to the table, the archive and the audit's bucket leave no spans, which would be paid for."""
    names = {json.loads(line)["name"].partition(".")[0] for line in scene.place.spans}

    assert names.isdisjoint({"DynamoDB", "S3", "SNS"})
