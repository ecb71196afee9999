"""Tell which commands are a danger, by parsing them as the shell does; nothing is run.

A danger is found whatever its spelling: quoted, escaped, wrapped in other programs, handed to another shell. What
cannot be told before it runs is one, too, wherever it decides. What a program or a script does by itself is not seen.
"""

from agent_image.hooks.shell.danger import Danger, Kind
from agent_image.hooks.shell.reading import dangers, dangers_of_code

__all__ = ["Danger", "Kind", "dangers", "dangers_of_code"]
