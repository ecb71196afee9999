"""A place's scheme decides what stands behind it, and a place that is none is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agent_image.contract import Regime
from agent_image.errors import SettingsError
from agent_image.places import archive_at, knowledge_base_at, ledger_at, passage_store_at
from agent_image.retrieval.archive import Archive, NoArchive
from agent_image.retrieval.bedrock import BedrockKnowledgeBase
from agent_image.retrieval.folder import FolderKnowledgeBase
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.s3_store import S3PassageStore
from agent_image.settings import Settings


def settings(**given: Any) -> Settings:
    return Settings(**{"environment": "e", "capture": Regime.ARCHIVE, "models": ("offline:",)} | given)


def test_an_agent_may_have_no_knowledge_base() -> None:
    """It answers without one, then."""
    assert knowledge_base_at(settings()) is None


def test_the_scheme_decides_the_knowledge_base(tmp_path: Path) -> None:
    """A laptop's folder and AWS's service answer the same question."""
    folder = knowledge_base_at(settings(knowledge_base=f"folder:{tmp_path}?window=500&overlap=50"))
    bedrock = knowledge_base_at(settings(knowledge_base="bedrock://KB12345678", region="us-east-1"))

    assert isinstance(folder, FolderKnowledgeBase)
    assert isinstance(bedrock, BedrockKnowledgeBase)
    assert bedrock.id == "KB12345678"
    folder.close()


def test_the_scheme_decides_the_archive(tmp_path: Path) -> None:
    """The known fingerprints of the one in AWS are in the table."""
    folder = passage_store_at(settings(archive=f"file:{tmp_path}/archive"))
    s3 = passage_store_at(settings(archive="s3://bucket/passages/", store="dynamodb://table", region="us-east-1"))

    assert isinstance(folder, FolderPassageStore)
    assert isinstance(s3, S3PassageStore)


def test_a_ledger_is_a_file_or_none(tmp_path: Path) -> None:
    """An agent without one has no tools that book effects; blanks and letters of any kind survive the URL."""
    ledger = ledger_at(settings(ledger=f"file:{quote(str(tmp_path))}/my%20%C3%A9tat.jsonl"))

    assert ledger_at(settings()) is None
    assert ledger is not None
    ledger.book("ticket", "k", 1, "s")
    assert (tmp_path / "my état.jsonl").exists()
    with pytest.raises(SettingsError, match="ledger is 's3://bucket'; allowed: a URL that begins with file:"):
        ledger_at(settings(ledger="s3://bucket"))


@pytest.mark.parametrize("regime", Regime)
def test_only_the_archive_regime_has_an_archive(regime: Regime, tmp_path: Path) -> None:
    """Elsewhere nobody asked for texts to be kept."""
    archive = archive_at(settings(capture=regime, archive=f"file:{tmp_path}"))
    archive.close()

    assert isinstance(archive, Archive if regime is Regime.ARCHIVE else NoArchive)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"knowledge_base": "https://kb"}, "knowledge_base is 'https://kb'; allowed: a URL that begins with bedrock:"),
        ({"knowledge_base": "KB12345678"}, "knowledge_base is 'KB12345678'"),
        ({"knowledge_base": "bedrock://KB12345678"}, "region is missing"),
        ({"knowledge_base": "folder:/x?window=many"}, "knowledge_base: window is 'many'"),
        ({"archive": None}, "archive is missing; allowed: a URL that begins with s3: or file:"),
        ({"archive": "ftp://x"}, "archive is 'ftp://x'"),
        ({"archive": "s3://bucket/passages/", "region": "us-east-1"}, "archive: store is None"),
        ({"archive": "s3://bucket/passages/", "store": "dynamodb://table"}, "region is missing"),
    ],
)
def test_a_place_that_is_none_is_refused(given: dict[str, Any], fault: str) -> None:
    """The fault names the setting and what is allowed."""
    faulty = settings(**given)

    with pytest.raises(SettingsError) as refused:
        (knowledge_base_at if "knowledge_base" in given else archive_at)(faulty)

    assert fault in str(refused.value)
