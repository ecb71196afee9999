"""Find the checkpoint that a person means: by its id, or by the beginning of one that is open."""

from __future__ import annotations

import re
from typing import Final

from agent_image.guard.checkpoint import Case
from agent_image.guard.people import PeopleStore
from console.approvals.wish import ID_DIGITS, ID_FORM
from console.errors import BadInputError, ConsoleError
from console.terminal import shown_line

LEAST_DIGITS: Final = 8
"""How many of them name an open checkpoint at least."""
OPEN_LIMIT: Final = 10_000
"""Open checkpoints among which a beginning is looked for."""
_BEGINNING: Final = re.compile(rf"[0-9a-f]{{{LEAST_DIGITS},{ID_DIGITS}}}")


def find(people: PeopleStore, named: str) -> Case:
    """Read the checkpoint that is named.

    Raises:
        BadInputError: the name is no id and no beginning of one, or begins several.
        ConsoleError: there is no such checkpoint.
    """
    wanted = named.strip().lower()
    if _BEGINNING.fullmatch(wanted) is None:
        message = (
            f"'{shown_line(named)}' is no checkpoint's id; allowed: {ID_DIGITS} hexadecimal digits, or the first "
            f"{LEAST_DIGITS} or more of one that is open"
        )
        raise BadInputError(message)
    if len(wanted) < ID_DIGITS:
        wanted = _whole(people, wanted)
    case = people.case(wanted)
    if case is None:
        message = f"there is no checkpoint {wanted}; rastro approvals list shows what is open"
        raise ConsoleError(message)
    if case.checkpoint.id != wanted:
        message = f"what lies under {wanted} is another checkpoint: the store was tampered with"
        raise ConsoleError(message)
    return case


def _whole(people: PeopleStore, beginning: str) -> str:
    found = sorted(
        {
            case.checkpoint.id
            for case in people.waiting(OPEN_LIMIT)
            if case.checkpoint.id.startswith(beginning) and ID_FORM.fullmatch(case.checkpoint.id)
        }
    )
    if not found:
        message = f"no open checkpoint begins with {beginning}; one that is closed is named by all {ID_DIGITS} digits"
        raise ConsoleError(message)
    if len(found) > 1:
        message = "\n".join((f"{beginning} begins the ids of {len(found)} open checkpoints:", *found))
        raise BadInputError(message)
    return found[0]
