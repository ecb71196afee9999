"""Command line of the cost model; mounted by others as a Typer app."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cost_model.errors import CostError
from cost_model.estimate import estimate as price_scenario
from cost_model.prices import load_prices
from cost_model.regimes import compare_regimes
from cost_model.render.document import Section
from cost_model.render.figures import clean
from cost_model.render.json_text import comparison_json, estimates_json
from cost_model.render.markdown import render_markdown
from cost_model.render.plain import render_plain
from cost_model.render.report import comparison_sections, estimate_sections
from cost_model.session_sizes import load_session_sizes
from cost_model.sources import SynthesisSource, read_overrides, regimes_scenario, synthesised_scenarios

# Plain help and errors: rich would cost more time to import than a whole estimate takes.
app = typer.Typer(
    name="cost",
    help="Price the trail before it is deployed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Format(StrEnum):
    """Name the output formats."""

    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


Sessions = Annotated[str | None, typer.Option("--sessions", metavar="N", help="Sessions a month, over the file's.")]
Indexing = Annotated[
    str | None,
    typer.Option("--indexing", metavar="PERCENT", help="Indexed share of spans, 0 to 100, over what is deployed."),
]
OutputFormat = Annotated[Format, typer.Option("--format", help="How to print the result.")]


@app.command(short_help="Compare what the four capture regimes cost.")
def regimes(
    usage: Annotated[Path, typer.Option("--usage", metavar="FILE", help="TOML with [usage] and [deployed].")],
    sessions: Sessions = None,
    indexing: Indexing = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Compare the capture regimes metadata, address, archive and content under one workload."""
    with refusals_to_stderr():
        scenario = regimes_scenario(usage, read_overrides(sessions, indexing))
        comparison = compare_regimes(scenario, load_prices(), _today(), load_session_sizes())
        _show(output, comparison_sections(comparison), lambda: comparison_json(comparison))


@app.command(short_help="Price what was synthesised, before it is deployed.")
def estimate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Synthesised Terraform, such as cdktf.out.")],
    *,
    environment: Annotated[
        str | None, typer.Option("--environment", metavar="ENV", help="Price this environment alone.")
    ] = None,
    usage: Annotated[
        Path | None, typer.Option("--usage", metavar="FILE", help="TOML with [usage], over the settings'.")
    ] = None,
    settings: Annotated[
        Path, typer.Option("--settings", metavar="DIR", help="Folder of the settings that were synthesised.")
    ] = Path("environments"),
    sessions: Sessions = None,
    indexing: Indexing = None,
    region: Annotated[
        str | None, typer.Option("--region", metavar="REGION", help="Region, over the provider's.")
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Price what was synthesised, the account stack included, before it is deployed."""
    with refusals_to_stderr():
        source = SynthesisSource(out, settings, environment, usage)
        scenarios = synthesised_scenarios(source, read_overrides(sessions, indexing, region))
        prices, today, sizes = load_prices(), _today(), load_session_sizes()
        estimates = [price_scenario(scenario, prices, today, sizes) for scenario in scenarios]
        _show(output, estimate_sections(estimates), lambda: estimates_json(estimates))


@contextmanager
def refusals_to_stderr() -> Iterator[None]:
    """Turn an error into one message a line on stderr and its exit status: 2 where an input was refused."""
    try:
        yield
    except CostError as error:
        for line in error.lines:
            typer.echo(clean(line), err=True)
        raise typer.Exit(error.status) from None


def _show(output: Format, sections: Iterable[Section], as_json: Callable[[], str]) -> None:
    if output is Format.JSON:
        typer.echo(as_json(), nl=False)
    elif output is Format.MARKDOWN:
        typer.echo(render_markdown(sections), nl=False)
    elif sys.stdout.isatty():
        from cost_model.render.terminal import print_terminal  # noqa: PLC0415  (rich loads for a terminal alone)

        print_terminal(sections)
    else:
        typer.echo(render_plain(sections), nl=False)


def _today() -> date:
    return datetime.now(tz=UTC).date()
