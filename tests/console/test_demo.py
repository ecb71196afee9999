"""The demonstration shows that addresses lead to the same words after a re-index."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from agent_image.contract import Regime
from agent_image.retrieval.knowledge_base import Retrieval
from agent_image.retrieval.passage import Passage
from agent_image.telemetry.retrieval_span import answered
from console.demo import found_again, reads
from tests.conftest import ROOT


def test_what_was_read_is_read_back_from_the_spans(tmp_path: Path) -> None:
    """Other spans are passed over."""
    passage = Passage((tmp_path / "a b.md").as_uri(), "Some words.", 1.0)
    attributes = answered(Regime.ADDRESS, Retrieval((passage,), "v1"), 1)
    spans = "\n".join(json.dumps({"attributes": one}) for one in ({"name": "chat"}, attributes))

    (read,) = reads(spans)

    assert read.index_version == "v1"
    assert read.passages == ((passage.uri, passage.fingerprint),)


def test_words_are_found_in_the_document_as_it_is_now(tmp_path: Path) -> None:
    """Other words around them do not matter; changed words are not found."""
    document = tmp_path / "a b.md"
    passage = Passage(document.as_uri(), "Some  words\nof a page.")
    document.write_text("New.\n\nSome words of a page.\n\nMore.")

    assert found_again(passage.uri, passage.fingerprint) == "Some words of a page."

    document.write_text("Some other words of a page.")
    assert found_again(passage.uri, passage.fingerprint) is None

    document.unlink()
    assert found_again(passage.uri, passage.fingerprint) is None


def test_the_demonstration_runs_as_it_stands() -> None:
    """It asks, re-indexes with another window, and finds every passage again."""
    ran = subprocess.run(
        [sys.executable, "-m", "console.demo"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=180
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("Unused items can be returned within 30 days of delivery.") == 2
    assert ran.stdout.count("  found: ") == 5
    assert "not found" not in ran.stdout
    assert "no passage of the new index" in ran.stdout
