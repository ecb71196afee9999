"""A URL's scheme decides which store stands behind it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_image.stores.by_url import FORMS, records_at
from agent_image.stores.dynamodb import DynamoRecords
from agent_image.stores.memory import MemoryRecords
from agent_image.stores.sql import SqlRecords

REGION = "eu-central-1"
CANARY = "CANARY"


@pytest.mark.parametrize(
    ("store", "kind"),
    [
        (None, MemoryRecords),
        ("postgresql://user@host/db", SqlRecords),
        ("dynamodb://table", DynamoRecords),
    ],
)
def test_each_form_has_its_store(store: str | None, kind: type) -> None:
    """Nothing is reached as long as nobody asks for a record: an agent starts without its store."""
    records = records_at(store, REGION, large="s3://bucket/passages/")

    assert isinstance(records, kind)
    records.close()


def test_a_file_is_not_made_before_it_is_needed(tmp_path: Path) -> None:
    """Opening is cheap and writes nothing."""
    records = records_at(f"sqlite:///{tmp_path / 'guard.db'}", None)

    assert isinstance(records, SqlRecords)
    records.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("store", ["", "memory:", f"redis://:{CANARY}@host", "dynamodb:table", f"{CANARY}", "s3://b"])
def test_an_unknown_form_is_refused_with_those_that_are_allowed(store: str) -> None:
    """The message holds nothing of the URL: it may hold a password."""
    with pytest.raises(ValueError, match="allowed") as refused:
        records_at(store, REGION)

    assert all(form in str(refused.value) for form in FORMS)
    assert CANARY not in str(refused.value)


def test_a_table_without_a_name_is_refused() -> None:
    """A URL that was cut short is no table."""
    with pytest.raises(ValueError, match="allowed: dynamodb://<name>"):
        records_at("dynamodb://", REGION)


def test_long_documents_go_to_s3_or_nowhere() -> None:
    """A folder is no place for what other machines read."""
    with pytest.raises(ValueError, match="allowed: s3://<name>"):
        records_at("dynamodb://table", REGION, large="file:/archive")


def test_a_table_needs_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said at the start, not at the first red call."""
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")

    with pytest.raises(ValueError, match="Region"):
        records_at("dynamodb://table", None)


def test_a_memory_needs_neither_sqlalchemy_nor_boto3() -> None:
    """Both take long to import, and the first answer waits for it."""
    code = (
        "import sys; from agent_image.stores.by_url import records_at; records_at(None, None);"
        "print(sorted({'sqlalchemy', 'boto3', 'psycopg'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert found.stdout.strip() == "[]"
