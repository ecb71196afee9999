"""Tell the places of a system that no command of an agent may write to."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from agent_image.hooks.shell.options import UNKNOWN

_HARMLESS: Final = re.compile(r"/dev/(null|zero|full|stdin|stdout|stderr|tty|fd/\d+|shm/.+)")
_SYSTEM: Final = re.compile(r"/(dev|proc|sys|boot|etc|bin|sbin|lib|lib64|usr/(bin|sbin|lib))(/|$)")
# Whatever folder a relative path begins in, this is where it ends.
_DEVICE: Final = re.compile(r"(^|/)dev/(sd|hd|vd|xvd|nvme|mmcblk|loop|dm-|md\d|mapper/|disk/|mem$|kmem$|port$)")
_ON_STDIN: Final = re.compile(r"-|/dev/(stdin|fd/.*|tcp/.*|udp/.*)|/proc/.*")


def is_system(path: str) -> bool | None:
    """Tell whether a path leads to a device or to the system's own files; None where it cannot be told."""
    if path.startswith(UNKNOWN):
        return None
    normal = re.sub(r"^/+", "/", posixpath.normpath(path))
    if _HARMLESS.fullmatch(normal):
        return False
    return bool(_SYSTEM.match(normal) or _DEVICE.search(normal))


def is_input(path: str) -> bool:
    """Tell whether a path is no file but what is handed over while the command runs."""
    return bool(_ON_STDIN.fullmatch(path if path == "-" else re.sub(r"^/+", "/", posixpath.normpath(path))))
