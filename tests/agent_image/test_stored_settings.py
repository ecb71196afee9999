"""A settings document too long for a variable is read from the very version that the stack named."""

from __future__ import annotations

import boto3
import pytest

from agent_image.errors import SettingsError
from agent_image.stored_settings import stored_settings

BUCKET = "settings-of-the-agent"
KEY = "settings/settings.json"


@pytest.fixture
def versions(aws_url: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    for name, value in {
        "AWS_ENDPOINT_URL_S3": aws_url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return [s3.put_object(Bucket=BUCKET, Key=KEY, Body=body.encode())["VersionId"] for body in ('{"a":"é"}', '{"b":2}')]


def test_each_runtime_version_reads_its_own_document(versions: list[str]) -> None:
    """A runtime that is rolled back to reads what it was deployed with."""
    read = [stored_settings(f"s3://{BUCKET}/{KEY}?versionId={version}") for version in versions]

    assert read == ['{"a":"é"}', '{"b":2}']


@pytest.mark.parametrize("uri", [f"s3://{BUCKET}/{KEY}", f"s3:///{KEY}?versionId=x", f"s3://{BUCKET}/?versionId=x"])
def test_a_place_without_a_version_is_refused(uri: str) -> None:
    """The newest document may belong to another runtime version."""
    with pytest.raises(SettingsError, match="allowed: s3://bucket/key"):
        stored_settings(uri)


@pytest.mark.usefixtures("versions")
def test_a_document_that_cannot_be_read_is_a_fault_of_the_settings() -> None:
    """The process ends with status 2 and says why, instead of a stack trace."""
    with pytest.raises(SettingsError, match=r"cannot be read: .*NoSuchBucket"):
        stored_settings(f"s3://another-bucket/{KEY}?versionId=x")
