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

from agent_image.contract import Regime
from cost_model.errors import CostError
from cost_model.estimate import estimate as price_scenario
from cost_model.prices import prices_with
from cost_model.regimes import compare_regimes
from cost_model.render.document import Section
from cost_model.render.figures import clean
from cost_model.render.json_text import comparison_json, estimates_json
from cost_model.render.markdown import render_markdown
from cost_model.render.plain import render_plain
from cost_model.render.report import comparison_sections, estimate_sections
from cost_model.session_sizes import load_session_sizes
from cost_model.sources import SynthesisSource, read_overrides, regimes_scenario, synthesised_scenarios

OVER_A_CEILING = 3
"""Exit status of a change that costs more than it may."""

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


OwnPrices = Annotated[
    Path | None,
    typer.Option("--prices", metavar="DIR", help="Folder of price files of your own, beside the shipped ones."),
]

prices_app = typer.Typer(
    help="Refresh and show the price book.", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
app.add_typer(prices_app, name="prices", help="Refresh and show the price book.")


@app.command(short_help="Compare what the four capture regimes cost.")
def regimes(
    usage: Annotated[Path, typer.Option("--usage", metavar="FILE", help="TOML with [usage] and [deployed].")],
    sessions: Sessions = None,
    indexing: Indexing = None,
    *,
    prices: OwnPrices = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Compare the capture regimes metadata, address, archive and content under one workload."""
    with refusals_to_stderr():
        scenario = regimes_scenario(usage, read_overrides(sessions, indexing))
        comparison = compare_regimes(scenario, prices_with(prices), _today(), load_session_sizes())
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
    prices: OwnPrices = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Price what was synthesised, the account stack included, before it is deployed."""
    with refusals_to_stderr():
        source = SynthesisSource(out, settings, environment, usage)
        scenarios = synthesised_scenarios(source, read_overrides(sessions, indexing, region))
        book, today, sizes = prices_with(prices), _today(), load_session_sizes()
        estimates = [price_scenario(scenario, book, today, sizes) for scenario in scenarios]
        _show(output, estimate_sections(estimates), lambda: estimates_json(estimates))


@app.command(short_help="Measure what comes in and what queries read, beside the estimate.")
def measure(
    *,
    environment: Annotated[
        str | None, typer.Option("--environment", metavar="ENV", help="Found by its discovery document.")
    ] = None,
    log_group: Annotated[
        str | None, typer.Option("--log-group", metavar="NAME", help="This group instead; needs --region.")
    ] = None,
    region: Annotated[str | None, typer.Option("--region", metavar="REGION", help="Region to ask in.")] = None,
    capture: Annotated[
        str | None, typer.Option("--capture", metavar="REGIME", help="Capture regime behind --log-group.")
    ] = None,
    days: Annotated[int, typer.Option("--days", metavar="N", help="Whole days, up to yesterday.")] = 30,
    sessions: Annotated[str | None, typer.Option("--sessions", metavar="N", help="Sessions a month.")] = None,
    count_sessions: Annotated[
        bool, typer.Option("--count-sessions", help="Count sessions by a query, after saying what it costs.")
    ] = False,
    split: Annotated[
        bool, typer.Option("--split", help="Tell spans from other lines by a query over a day, after saying its cost.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Run these queries without asking.")] = False,
    namespace: Annotated[
        list[str] | None, typer.Option("--namespace", metavar="NAME", help="Count custom metrics here. Repeatable.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Synthesised Terraform: shows its estimate beside.")
    ] = None,
    settings: Annotated[
        Path, typer.Option("--settings", metavar="DIR", help="Folder of the settings that were synthesised.")
    ] = Path("environments"),
    usage: Annotated[
        Path | None, typer.Option("--usage", metavar="FILE", help="TOML with [usage], over the settings'.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--write", metavar="FILE", help="Write what was measured as a dated [usage] table.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    prices: OwnPrices = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Measure what comes in and what queries read, and set it beside the estimate.

    Reads metrics and the history of queries, which costs cents at most. The investigator's policy allows what it takes:
    ssm:GetParameter, cloudwatch:GetMetricData, logs:DescribeQueries, logs:GetQueryResults. Counts of metrics, alarms
    and dashboards take cloudwatch:ListMetrics, DescribeAlarms and ListDashboards; without them they are left out.
    Exit status: 0 done, 1 AWS did not answer or nothing came in, 2 bad input. Then nothing is written.
    """
    from cost_model.measure.agreeing import agreement  # noqa: PLC0415  (boto3 takes long to load)
    from cost_model.measure.commands import NAMESPACES, Target, measure_trail  # noqa: PLC0415
    from cost_model.measure.documents import measured_json  # noqa: PLC0415
    from cost_model.measure.measuring import Asked  # noqa: PLC0415
    from cost_model.measure.showing import measured_sections  # noqa: PLC0415

    with refusals_to_stderr():
        target = Target(environment, log_group, region, capture, out, settings, usage, prices)
        stated = read_overrides(sessions, None).sessions
        names = tuple(namespace or NAMESPACES)
        asked = Asked(days, agreement(yes=yes), stated, split=split, count_sessions=count_sessions, namespaces=names)
        sizes = load_session_sizes()
        measured, costs = measure_trail(target, asked, write, force=force, today=_today(), sizes=sizes)
        _show(output, measured_sections(measured, costs), lambda: measured_json(measured, costs, sizes))
        if write is not None:
            typer.echo(clean(f"{write}: written"), err=True)


@prices_app.command("refresh", short_help="Look prices up in the AWS Price List, and add what moved.")
def refresh_prices(
    region: Annotated[str, typer.Option("--region", metavar="REGION", help="Whose prices, such as eu-west-1.")],
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", metavar="PATH", help="Bulk file of one service, JSON or CSV; needs no AWS. Repeatable."),
    ] = None,
    service: Annotated[
        list[str] | None,
        typer.Option("--service", metavar="CODE", help="Rows of this service alone, such as AmazonS3. Repeatable."),
    ] = None,
    prices: OwnPrices = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added; write nothing.")] = False,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Look prices up in the AWS Price List and add rows for what moved; old rows stay.

    Exit status: 0 done, 1 AWS did not answer or a row has no single price (nothing is written), 2 bad input.
    """
    from cost_model.price_list.commands import refresh_prices as refresh  # noqa: PLC0415  (boto3 takes long to load)
    from cost_model.price_list.documents import refreshed_json  # noqa: PLC0415
    from cost_model.price_list.refreshing import Wish  # noqa: PLC0415
    from cost_model.price_list.showing import refreshed_sections  # noqa: PLC0415

    with refusals_to_stderr():
        wish = Wish(region, tuple(service or ()), prices, dry_run)
        refreshed = refresh(wish, file or (), _today())
        _show(output, refreshed_sections(refreshed, _today()), lambda: refreshed_json(refreshed))


@prices_app.command("show", short_help="Show the prices in use: tiers, date, age, source.")
def show_prices(
    region: Annotated[str | None, typer.Option("--region", metavar="REGION", help="This Region alone.")] = None,
    *,
    prices: OwnPrices = None,
    history: Annotated[bool, typer.Option("--history", help="Older rows, too.")] = False,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Show the prices in use: tiers, date, age, source; one not seen for 180 days is stale."""
    from cost_model.price_list.documents import book_json  # noqa: PLC0415
    from cost_model.price_list.in_use import prices_in_use  # noqa: PLC0415
    from cost_model.price_list.showing import book_sections  # noqa: PLC0415

    with refusals_to_stderr():
        rows = prices_in_use(prices, region, history=history)
        _show(output, book_sections(rows, _today()), lambda: book_json(rows, _today()))


CeilingOption = Annotated[
    str | None, typer.Option("--max-monthly", metavar="USD", help="Status 3 where the new side costs more a month.")
]
IncreaseOption = Annotated[
    str | None, typer.Option("--max-increase", metavar="PERCENT", help="Status 3 where the cost rises by more.")
]
OptionalUsage = Annotated[
    Path | None, typer.Option("--usage", metavar="FILE", help="TOML with [usage], over the settings'.")
]
OptionalOut = Annotated[
    Path | None, typer.Argument(metavar="[OUT]", help="Synthesised Terraform; without it --usage says everything.")
]
OneEnvironment = Annotated[str | None, typer.Option("--environment", metavar="ENV", help="This environment alone.")]
SettingsFolder = Annotated[
    Path, typer.Option("--settings", metavar="DIR", help="Folder of the settings that were synthesised.")
]
RegionOption = Annotated[str | None, typer.Option("--region", metavar="REGION", help="Region, over the provider's.")]


@app.command(short_help="Show what a change costs, line by line.")
def diff(
    base: Annotated[Path | None, typer.Argument(metavar="[BASE]", help="What was synthesised before.")] = None,
    head: Annotated[Path | None, typer.Argument(metavar="[HEAD]", help="What was synthesised after.")] = None,
    *,
    git: Annotated[
        str | None, typer.Option("--git", metavar="REF", help="Synthesise this commit, branch or tag as BASE.")
    ] = None,
    environment: OneEnvironment = None,
    usage: Annotated[
        Path | None, typer.Option("--usage", metavar="FILE", help="TOML with [usage], for both sides.")
    ] = None,
    base_settings: Annotated[
        Path | None, typer.Option("--base-settings", metavar="DIR", help="Settings of BASE, if not beside it.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="DIR", help="Settings of HEAD, if not beside it.")
    ] = None,
    region: RegionOption = None,
    max_monthly: CeilingOption = None,
    max_increase: IncreaseOption = None,
    prices: OwnPrices = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Show what a change costs: two folders, or --git REF against HEAD or else the working tree.

    Each side is priced under the [usage] of its own settings, unless --usage holds for both.
    Exit status: 0 compared, 2 bad input, 3 over a ceiling.
    """
    from cost_model.judging import held  # noqa: PLC0415  (what one command needs, others do not wait for)
    from cost_model.render import difference as shown  # noqa: PLC0415
    from cost_model.sides import read_sides  # noqa: PLC0415

    with refusals_to_stderr():
        sides = read_sides(
            (base, head), git, environment=environment, usage=usage, base_settings=base_settings,
            head_settings=settings, region=region,
        )  # fmt: skip
        change = held(sides, max_monthly, max_increase, prices_with(prices), _today())
        parts = change.difference, change.ceilings, change.broken
        _show(output, shown.difference_sections(*parts), lambda: shown.difference_json(*parts))
    for line in shown.ceiling_lines(*parts):
        typer.echo(clean(line), err=True)
    if change.broken:
        raise typer.Exit(OVER_A_CEILING)


@app.command(short_help="Show which input moves the bill most.")
def sensitivity(
    out: OptionalOut = None,
    *,
    environment: OneEnvironment = None,
    usage: OptionalUsage = None,
    settings: SettingsFolder = Path("environments"),
    regime: Annotated[
        Regime, typer.Option("--regime", help="Capture regime, where no OUT says which is deployed.")
    ] = Regime.ARCHIVE,
    sessions: Sessions = None,
    indexing: Indexing = None,
    region: RegionOption = None,
    budget: Annotated[
        str, typer.Option("--budget", metavar="USD", help="Solve for the trail that costs this.")
    ] = "100",
    share: Annotated[
        str, typer.Option("--share", metavar="PERCENT", help="Solve for content at this share of inference.")
    ] = "1",
    prices: OwnPrices = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Show which input moves the bill most, each changed alone, and where one cost overtakes another."""
    from cost_model.judging import Asked, judged  # noqa: PLC0415  (what one command needs, others do not wait for)
    from cost_model.render.levers import sensitivity_json, sensitivity_sections  # noqa: PLC0415

    with refusals_to_stderr():
        overrides = read_overrides(sessions, indexing, region)
        asked = Asked(out, settings, environment, usage, overrides, regime)
        found = judged(asked, budget, share, prices_with(prices), _today())
        _show(output, sensitivity_sections(found), lambda: sensitivity_json(found))


@app.command(short_help="Price the same traffic under other vendors' plans.")
def alternatives(
    out: OptionalOut = None,
    *,
    environment: OneEnvironment = None,
    usage: OptionalUsage = None,
    settings: SettingsFolder = Path("environments"),
    sessions: Sessions = None,
    model_calls: Annotated[
        str | None, typer.Option("--model-calls", metavar="N", help="Model calls of one session; 3 without it.")
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Price the same traffic under other vendors' plans, with date, source and confidence of each price."""
    from cost_model.judging import Asked, elsewhere  # noqa: PLC0415  (what one command needs, others do not wait for)
    from cost_model.render.alternatives import alternatives_json, alternatives_sections  # noqa: PLC0415

    with refusals_to_stderr():
        asked = Asked(out, settings, environment, usage, read_overrides(sessions, None))
        priced = elsewhere(asked, model_calls, _today())
        calls = priced.model_calls
        sections = alternatives_sections(priced.found, priced.workload, calls)
        _show(output, sections, lambda: alternatives_json(priced.found, calls))


@app.command(short_help="Write one page: charts, tables, and what they rest on.")
def report(
    out: OptionalOut = None,
    *,
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="Where to write the page.")],
    diff: Annotated[
        Path | None, typer.Option("--diff", metavar="BASE", help="What was synthesised before, to compare with.")
    ] = None,
    environment: OneEnvironment = None,
    usage: OptionalUsage = None,
    settings: SettingsFolder = Path("environments"),
    regime: Annotated[
        Regime, typer.Option("--regime", help="Capture regime, where no OUT says which is deployed.")
    ] = Regime.ARCHIVE,
    sessions: Sessions = None,
    indexing: Indexing = None,
    region: RegionOption = None,
    prices: OwnPrices = None,
) -> None:
    """Write one page that stands alone: charts, tables, advice, and what they rest on.

    Exit status: 0 written, 2 bad input (nothing is written).
    """
    from cost_model.report.command import Asked, write_report  # noqa: PLC0415  (what draws takes long to load)

    with refusals_to_stderr():
        asked = Asked(html, out, environment, usage, settings, diff, regime)
        overrides = read_overrides(sessions, indexing, region)
        write_report(asked, overrides, prices_with(prices), _today(), load_session_sizes())


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
