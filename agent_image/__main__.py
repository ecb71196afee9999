"""Start the agent: `opentelemetry-instrument python -m agent_image`."""

from __future__ import annotations

import os
import sys
from typing import Final
from urllib.parse import parse_qs, urlsplit

from agent_image.assemble import assemble
from agent_image.errors import SettingsError
from agent_image.settings import load

PORT: Final = 8080
"""Where AgentCore looks for the container; the variable PORT names another on a laptop."""
SHUTDOWN_SECONDS: Final = 5
"""How long open answers may go on after SIGTERM, before spans and passages are flushed."""
_BAD_SETTINGS: Final = 2


def main() -> int:
    """Run until a signal ends it; status 2 means that the settings are faulty."""
    try:
        settings = load(os.environ, _fetch)
        app = assemble(settings)
        port = _port(os.environ.get("PORT", ""))
    except SettingsError as error:
        sys.stderr.writelines(f"settings: {fault}\n" for fault in error.faults)
        return _BAD_SETTINGS
    app.run(port=port, timeout_graceful_shutdown=SHUTDOWN_SECONDS)
    return 0


def _port(value: str) -> int:
    if not value:
        return PORT
    if not (value.isascii() and value.isdigit() and 0 < int(value) < 2**16):
        raise SettingsError([f"PORT is {value!r}; allowed: 1 to 65535"])
    return int(value)


def _fetch(uri: str) -> str:
    """Read the settings document behind `s3://<bucket>/<key>?versionId=<version>`."""
    import boto3  # noqa: PLC0415 - only where the document does not stand in the variable

    parts = urlsplit(uri)
    version = parse_qs(parts.query).get("versionId", [])
    if not (parts.netloc and parts.path.strip("/") and len(version) == 1):
        raise SettingsError([f"{uri!r} is no place of a settings document; allowed: s3://bucket/key?versionId=…"])
    stored = boto3.client("s3").get_object(Bucket=parts.netloc, Key=parts.path.lstrip("/"), VersionId=version[0])
    text: str = stored["Body"].read().decode()
    return text


if __name__ == "__main__":
    sys.exit(main())
