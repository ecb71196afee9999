"""Carry out `rastro doctor`: ask the account, check what it answered, show it, and give the exit status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from time import sleep
from typing import Any

import typer

from console.doctor import canary, canary_talk, first_deploy, show
from console.doctor.account import Account
from console.doctor.check import Checked, State, examine
from console.doctor.checks import CHECKS
from console.doctor.declared import Declared, declared_of
from console.doctor.gather import gather
from console.doctor.open_points import POINTS
from console.environment import find
from console.errors import FAILURE, BadInputError
from console.moments import now
from console.progress import progress_on_terminal
from console.screen import Screen
from console.terminal import shown

_RIGHT = frozenset({State.OK, State.WARNING, State.SKIPPED})


def say(text: str) -> None:
    """Say something on standard error."""
    typer.echo(text, err=True)


@dataclass(frozen=True, slots=True)
class Wish:
    """Hold what a person asked for beside the checks.

    Attributes:
        as_json: write JSON alone.
        canary: ask the agent a question, and look for it in the trail.
        first_deploy: walk through what is unconfirmed of AWS.
    """

    as_json: bool = False
    canary: bool = False
    first_deploy: bool = False


def doctor(
    environment: str | None,
    wish: Wish,
    screen: Screen,
    *,
    clock: Callable[[], datetime] = now,
    pause: Callable[[float], object] = sleep,
    tell: Callable[[str], None] = say,
) -> int:
    """Check an environment: 0 where all is right, warnings allowed; 1 for a fault, or what could not be looked at.

    Raises:
        BadInputError: no environment is named, or none can have that name.
        ConsoleError: the environment is not found, or its discovery document lacks what each has.
    """
    if environment is None:
        message = "name an environment: --environment ENV; a laptop's trail needs no doctor"
        raise BadInputError(message)
    if wish.canary:
        tell(canary.COST)
    found = find(environment)
    declared = declared_of(found)
    with progress_on_terminal() as progress:
        account = gather(declared, clock(), progress)
        if wish.canary:
            word = canary_talk.new_word()
            heard = canary_talk.speak(found, declared, word, clock=clock, pause=pause, progress=progress)
            account = replace(account, heard=heard)
    checked = examine(CHECKS, declared, account)
    if wish.as_json:
        screen.document(_document(wish, declared, account, checked))
    else:
        _show(wish, screen, declared, account, checked)
    return 0 if all(one.result.state in _RIGHT for one in checked) else FAILURE


def _document(wish: Wish, declared: Declared, account: Account, checked: tuple[Checked, ...]) -> dict[str, Any]:
    built = show.document(declared, account.asked_at, checked)
    if wish.first_deploy:
        points = first_deploy.walk(POINTS, declared, account)
        built["first_deploy"] = first_deploy.document(points, declared)
    return built


def _show(wish: Wish, screen: Screen, declared: Declared, account: Account, checked: tuple[Checked, ...]) -> None:
    show.show(screen, declared, account.asked_at, checked)
    if not wish.first_deploy:
        return
    points = first_deploy.walk(POINTS, declared, account)
    for table in first_deploy.tables(points):
        if table.rows:
            screen.line()
            screen.table(table)
    screen.line()
    screen.line("To paste into an issue or a note:")
    screen.line()
    screen.line(shown(first_deploy.note(points, declared, account.asked_at)))
