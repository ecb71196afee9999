"""Read a settings document that is too long for a variable from where the stack stored it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from agent_image.contract import SETTINGS_VARIABLE
from agent_image.errors import SettingsError


def stored_settings(uri: str) -> str:
    """Read the document behind `s3://<bucket>/<key>?versionId=<version>`.

    Raises:
        SettingsError: the URI names no version of an object, or the object cannot be read.
    """
    parts = urlsplit(uri)
    version = parse_qs(parts.query).get("versionId", [])
    if not (parts.netloc and parts.path.strip("/") and len(version) == 1):
        raise SettingsError([f"{SETTINGS_VARIABLE} is {uri!r}; allowed: s3://bucket/key?versionId=…"])
    try:
        stored = boto3.client("s3").get_object(Bucket=parts.netloc, Key=parts.path.lstrip("/"), VersionId=version[0])
        text: str = stored["Body"].read().decode()
    except (BotoCoreError, ClientError, UnicodeDecodeError) as error:
        raise SettingsError([f"{SETTINGS_VARIABLE}: {uri} cannot be read: {error}"]) from None
    return text
