"""Synthesise every stack: read the settings, compose, write `cdktf.out`.

Usage: python main.py [FOLDER]. The folder holds the settings files; `environments` beside this file by default.
Exit status 2: the settings are at fault, and nothing was written.
"""

from __future__ import annotations

import sys
from pathlib import Path

from stacks.limits import within_limits
from stacks.settings.fault import SettingsError
from stacks.settings.load import load


def main(arguments: list[str]) -> int:
    """Synthesise, or say every fault of every settings file."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent / "environments"
    try:
        settings = within_limits(load(folder))
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    # Only good settings are worth starting the framework for: it loads a Node.js process.
    from stacks.compose import compose  # noqa: PLC0415 - see above
    from stacks.framework import App  # noqa: PLC0415 - see above

    app = App()
    compose(app, settings)
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
