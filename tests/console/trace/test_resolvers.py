"""What resolves passages is composed from a state folder, or from what an environment deployed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest

from agent_image.contract import TABLE_KEY, Regime
from agent_image.retrieval.chunks import Cut
from agent_image.retrieval.fingerprint import fingerprint
from agent_image.retrieval.folder import Folder, version_now
from agent_image.retrieval.folder_store import FolderPassageStore
from agent_image.retrieval.passage import Address
from agent_image.retrieval.s3_store import S3PassageStore, parse_s3_place, s3_clients
from console.errors import ConsoleError
from console.laptop import LAPTOP_FILE, archive_folder, laptop, remembered
from console.trace.archive import Lack
from console.trace.facts import Facts, Index, Source, SourceFact, Text
from console.trace.resolve import Wanted
from console.trace.resolvers import resolver_for
from console.trace.sources.source import Why
from console.where import Where
from tests.console.loopback import document, serving
from tests.loopback.aws import moto

WORDS = "Thirty days, no questions."
REGION = "eu-central-1"


def resolved(where: Where, wanted: Wanted, **options: Any) -> Facts:
    return resolver_for(where, **options).facts([wanted])[wanted]


def test_a_state_folder_says_all_that_is_needed(tmp_path: Path) -> None:
    """Its archive, its documents, and what its agent was started with last."""
    knowledge, state = tmp_path / "shop", tmp_path / "state"
    knowledge.mkdir()
    state.mkdir()
    (knowledge / "returns.md").write_text(f"# Returns\n\n{WORDS}\n")
    machine = laptop(state, knowledge, window=300, overlap=60, model="offline:", capture=Regime.ARCHIVE)
    (state / LAPTOP_FILE).write_text(json.dumps(machine.started_with()))
    FolderPassageStore(machine.archive).put(fingerprint(WORDS).text, WORDS.encode())
    then = version_now(Folder(knowledge, Cut(300, 60)))
    uri = (knowledge / "returns.md").as_uri()

    found = resolved(
        Where(state), Wanted(Address(uri, fingerprint(WORDS)), uri, None, then, "folder:shop"), surroundings=9
    )

    assert (found.text.state, found.text.words) == (Text.ARCHIVE, WORDS)
    assert (found.source.state, found.source.before, found.index.state) == (Source.INTACT, " Returns ", Index.SAME)
    assert resolved(
        Where(state), Wanted(Address(uri, fingerprint(WORDS)), uri), read_sources=False
    ).source == SourceFact(Source.NOT_READ)


@pytest.mark.parametrize("broken", [None, "", "{}", "[]", '{"knowledge": 1}', '{"knowledge": "/x", "window": 1}'])
def test_a_state_folder_that_does_not_tell_leaves_the_index_unknown(tmp_path: Path, broken: str | None) -> None:
    """And is no reason to fail: the file may be of another version."""
    if broken is not None:
        (tmp_path / LAPTOP_FILE).write_text(broken)
    wanted = Wanted(Address("file:///none", fingerprint(WORDS)), "file:///none/such", None, "0" * 20, "folder:shop")

    found = resolved(Where(tmp_path), wanted)

    assert remembered(tmp_path) is None
    assert (found.index.state, found.source.state) == (Index.UNKNOWN, Source.MISSING)
    assert (found.text.state, found.text.why) == (Text.NOT_RECOVERED, Lack.NO_ARCHIVE)


def test_an_archive_that_is_there_knows_what_it_never_had_and_one_that_is_gone_does_not(tmp_path: Path) -> None:
    """Somebody may have deleted the folder: then nobody knows what lay in it."""
    wanted = Wanted(Address("file:///none", fingerprint(WORDS)), "file:///none/such")
    assert resolved(Where(tmp_path), wanted).text.why == Lack.NO_ARCHIVE

    FolderPassageStore(archive_folder(tmp_path)).put(fingerprint("Other words.").text, b"Other words.")

    assert resolved(Where(tmp_path), wanted).text.why == Lack.NEVER_STORED


def test_what_an_agent_was_started_with_reads_back(tmp_path: Path) -> None:
    """Whole."""
    machine = laptop(tmp_path, None, window=300, overlap=None, model="offline:", capture=Regime.ADDRESS)
    (tmp_path / LAPTOP_FILE).write_text(json.dumps(machine.started_with()))

    assert remembered(tmp_path) == machine


# --- an environment --------------------------------------------------------------------------------------------------


@dataclass
class Deployed:
    """An environment on loopback, and the URI of its one document."""

    folder: Path
    discovery: dict[str, str | None]
    uri: str

    def where(self, **changes: str | None) -> Where:
        self.discovery.update(changes)
        return Where(self.folder, "prod")


@pytest.fixture(scope="module")
def aws_url() -> Iterator[str]:
    with moto() as url:
        yield url


@pytest.fixture
def deployed(aws_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Deployed]:
    """Put an environment on loopback, with a discovery document that says where its parts are."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    for service in ("S3", "DYNAMODB"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", aws_url)
    name = f"rastro-{uuid4().hex}"
    discovery: dict[str, str | None] = {
        "region": REGION,
        "table": name,
        "archive": name,
        "knowledge_base": "KB12345678",
    }
    jobs = [{"ingestionJobId": "JOB1", "updatedAt": "2026-01-02T03:04:05Z"}]

    def answer(asked: Any) -> Any:
        if "X-Amz-Target" in asked.headers:
            return document({"Parameter": {"Name": "/rastro/prod", "Value": json.dumps(discovery)}})
        if asked.path.endswith("ingestionjobs/"):
            return document({"ingestionJobSummaries": jobs})
        return document({"dataSourceSummaries": [{"dataSourceId": "DS12345678"}]})

    with serving(answer) as (port, _):
        for service in ("SSM", "BEDROCK_AGENT"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", f"http://127.0.0.1:{port}")

        boto3.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
        boto3.client("dynamodb").create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": TABLE_KEY, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": TABLE_KEY, "AttributeType": "S"}],
        )
        store = S3PassageStore(parse_s3_place(f"s3://{name}", f"dynamodb://{name}"), s3_clients(REGION))
        store.put(fingerprint(WORDS).text, WORDS.encode())
        store.erase(fingerprint("erased").text)
        boto3.client("s3").put_object(Bucket=name, Key="docs/returns.md", Body=f"# Returns\n\n{WORDS}".encode())
        yield Deployed(tmp_path, discovery, f"s3://{name}/docs/returns.md")


def test_an_environment_says_where_its_parts_are(deployed: Deployed) -> None:
    """The archive in its bucket and table, the documents in S3, the index in Bedrock."""
    then = "JOB1@2026-01-02T03:04:05Z"
    wanted = Wanted(Address("returns.md", fingerprint(WORDS)), deployed.uri, None, then, "KB12345678")
    erased = Wanted(
        Address("returns.md", fingerprint("erased")), deployed.uri, None, "JOB0@2026-01-01T00:00:00Z", "KB12345678"
    )
    other = Wanted(Address("returns.md", fingerprint("# Returns")), deployed.uri, None, then, "KB87654321")

    found = resolver_for(deployed.where()).facts([wanted, erased, other])

    assert [found[one].text.state for one in (wanted, erased, other)] == [Text.ARCHIVE, Text.NOT_RECOVERED, Text.SOURCE]
    assert [found[one].text.why for one in (wanted, erased, other)] == ["", Lack.ERASED, Lack.NEVER_STORED]
    assert [found[one].source.state for one in (wanted, erased, other)] == [
        Source.INTACT,
        Source.CHANGED,
        Source.INTACT,
    ]
    assert [found[one].index.state for one in (wanted, erased, other)] == [Index.SAME, Index.REINDEXED, Index.UNKNOWN]


def test_a_file_that_a_deployed_agent_read_is_not_looked_for_here(deployed: Deployed, tmp_path: Path) -> None:
    """A trail of AWS makes nobody read this machine's files."""
    secret = tmp_path / "secret.txt"
    secret.write_text(WORDS)
    wanted = Wanted(Address("secret.txt", fingerprint(WORDS)), secret.as_uri())

    found = resolved(deployed.where(), wanted)

    assert found.source == SourceFact(Source.UNREADABLE, Why.OTHER_MACHINE)


def test_this_machine_s_own_services_are_asked_where_that_is_allowed_alone(deployed: Deployed) -> None:
    """By `http:`, which a trail may say."""
    with serving(lambda _: document({"text": WORDS})) as (port, asked):
        wanted = Wanted(Address("x", fingerprint(WORDS)), f"http://127.0.0.1:{port}/x.json")
        refused = resolved(deployed.where(), wanted)
        assert asked == []
        allowed = resolved(deployed.where(), wanted, allow_private=True)

    assert (refused.source.state, refused.source.why) == (Source.UNREADABLE, Why.NOT_ALLOWED)
    assert allowed.source.state is Source.INTACT


def test_an_agent_without_a_knowledge_base_has_no_index(deployed: Deployed) -> None:
    """That is unknown, and no failure."""
    wanted = Wanted(Address("returns.md", fingerprint(WORDS)), deployed.uri, None, "v1", "KB12345678")

    assert resolved(deployed.where(knowledge_base=None), wanted).index.state is Index.UNKNOWN


def test_a_document_of_an_older_stack_is_said(deployed: Deployed) -> None:
    """What it lacks, and what to do."""
    with pytest.raises(ConsoleError, match="has no archive; deploy the environment again"):
        resolver_for(deployed.where(archive=None))
