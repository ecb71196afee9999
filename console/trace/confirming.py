"""Ask a person before a query that reads much, or tell a script what it will read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal
from typing import Final

import typer

from console.errors import BadInputError
from console.terminal import shown_line
from console.trace.plan import Confirm, Plan

_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")
_NEXT: Final = 1024
_CENT: Final = Decimal("0.01")


def confirming(*, yes: bool, is_terminal: Callable[[], bool] | None = None) -> Confirm:
    """Give the way in which a command confirms a plan.

    On a terminal it shows the plan and asks; with `yes` it shows it on standard error and goes on.

    Args:
        yes: nobody is to be asked.
        is_terminal: tells whether somebody can be; standard input and standard error say so where it is not named.

    Returns:
        What asks. It raises BadInputError where nobody can be asked and nobody said yes.
    """
    attended = is_terminal or (lambda: sys.stdin.isatty() and sys.stderr.isatty())

    def confirm(plan: Plan) -> bool:
        text = shown_line(told(plan))
        if yes:
            typer.echo(text, err=True)
            return True
        if not attended():
            message = f"{text}; nobody can be asked here: --yes allows it"
            raise BadInputError(message)
        return typer.confirm(f"{text}. Go on?", err=True)

    return confirm


def told(plan: Plan) -> str:
    """Say what a plan will read and cost, in one line."""
    start, end = plan.window
    read = "how much it reads is not known" if plan.bytes is None else f"at most {size(plan.bytes)}"
    cost = "what it costs is not known" if plan.cost_usd is None else f"{_usd(plan.cost_usd)} at most"
    how = "an index leads to the lines" if plan.indexed else "no index leads to the lines, so all are read"
    return f"{plan.what}, {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC: {how}; {read}; {cost}"


def size(count: int) -> str:
    """Write a number of bytes in the unit that leaves few digits; a KB is 1,024 bytes."""
    amount, unit = Decimal(count), 0
    while amount >= _NEXT and unit < len(_UNITS) - 1:
        amount, unit = amount / _NEXT, unit + 1
    return f"{amount:,.1f} {_UNITS[unit]}" if unit else f"{count:,} bytes"


def _usd(amount: Decimal) -> str:
    # Rounded up: what is said is the most that it costs.
    return f"{amount.quantize(_CENT, ROUND_CEILING):,} USD"
