"""Say what queries will read and cost, and ask whether to run them."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from cost_model.errors import UsageError
from cost_model.measure.measuring import Scan
from cost_model.render.figures import clean, money, quantity


def agreement(*, yes: bool) -> Callable[[tuple[Scan, ...]], bool]:
    """Ask on the terminal; `yes` answers before it is asked, and without a terminal nobody else can."""

    def confirm(scans: tuple[Scan, ...]) -> bool:
        for scan in scans:
            typer.echo(clean(scan_words(scan)), err=True)
        if yes:
            return True
        if not sys.stdin.isatty():
            message = "the queries were not run: nobody is at a terminal to agree; --yes agrees"
            raise UsageError(message)
        return typer.confirm("Run?", default=False, err=True)

    return confirm


def scan_words(scan: Scan) -> str:
    """Say one of them."""
    usd = "a price that is not known" if scan.usd is None else f"{money(scan.usd)} USD"
    return f"{scan.what}: reads about {quantity(scan.gb)} GB, for {usd}"
