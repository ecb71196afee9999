"""Start the agent: `opentelemetry-instrument python -m agent_image`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Final

from agent_image.assemble import assemble
from agent_image.contract import CONTAINER_VARIABLE
from agent_image.errors import SettingsError, TelemetryError
from agent_image.settings import load
from agent_image.stored_settings import stored_settings

PORT: Final = 8080
"""Where AgentCore looks for the container; the variable PORT names another on a laptop."""
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - AgentCore reaches the container from outside
LOOPBACK: Final = "127.0.0.1"
SHUTDOWN_SECONDS: Final = 5
"""How long open answers may go on after SIGTERM, before spans and passages are flushed."""
_NOT_SEALED: Final = 1
_BAD_SETTINGS: Final = 2
_STANDARD_ERROR: Final = 2


def main() -> int:
    """Run until a signal ends it; status 2: the settings are faulty, 1: something may export past the trail."""
    try:
        settings = load(os.environ, stored_settings)
        port = _port(os.environ.get("PORT", ""))
        app = assemble(settings)
    except SettingsError as error:
        _say(f"settings: {fault}" for fault in error.faults)
        return _BAD_SETTINGS
    except TelemetryError as error:
        _say([f"telemetry: {error.message}"])
        return _NOT_SEALED
    # The framework would look for traces of a container; a laptop's agent must not be reached from elsewhere.
    host = EVERYWHERE if os.environ.get(CONTAINER_VARIABLE) else LOOPBACK
    app.run(port=port, host=host, timeout_graceful_shutdown=SHUTDOWN_SECONDS)
    return 0


def _say(lines: Iterable[str]) -> None:
    # Settings are an operator's words: the guard of sys.stderr would hide them from the one who wrote them.
    os.write(_STANDARD_ERROR, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


def _port(value: str) -> int:
    if not value:
        return PORT
    if not (value.isascii() and value.isdigit() and 0 < int(value) < 2**16):
        raise SettingsError([f"PORT is {value!r}; allowed: 1 to 65535"])
    return int(value)


if __name__ == "__main__":
    sys.exit(main())
