"""Show whole reports as people read them, and single figures."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from rich.console import Console

from agent_image.contract import Regime
from cost_model.deployment import read_deployment
from cost_model.documents import read_toml
from cost_model.estimate import NOT_PRICED, Estimate, estimate
from cost_model.prices import PriceBook
from cost_model.regimes import compare_regimes
from cost_model.render import figures
from cost_model.render.document import Kind, Row, Section, Table
from cost_model.render.markdown import escape, render_markdown
from cost_model.render.plain import render_plain
from cost_model.render.report import comparison_sections, estimate_sections
from cost_model.render.terminal import print_terminal
from cost_model.scenario import Scenario
from cost_model.session_sizes import load_session_sizes
from cost_model.sources import Overrides, SynthesisSource, synthesised_scenarios
from cost_model.workload import Tokens, read_workload
from tests.cost_model.conftest import ARTICLE, TODAY, Synthesis
from tests.cost_model.golden import holding

GOLDENS = Path(__file__).parent / "goldens"


def usual() -> Scenario:
    """Read the example of what people usually do."""
    document = read_toml(ARTICLE.with_name("usual.toml"))
    return Scenario(read_deployment(document["deployed"], "usual"), read_workload(document["usage"], "usual"))


def reports(synthesis: Synthesis, article: Scenario, prices: PriceBook) -> dict[str, str]:
    """Return every golden report by its file's name."""
    synthesis.add_environment("dev", regime="archive", indexing=5)
    synthesis.stacks["agent-other"] = {"provider": {"aws": {"region": "us-east-1"}}, "resource": {}}
    synthesis.set_file("other.toml", "")
    synthesis.stacks["agent-dev"]["locals"]["rastro_settings"]["other.toml"] = (
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    scenarios = synthesised_scenarios(SynthesisSource(synthesis.write(), synthesis.settings), Overrides())
    estimates = [estimate(scenario, prices, TODAY) for scenario in scenarios]
    texts = {
        "estimate.txt": render_plain(estimate_sections(estimates)),
        "estimate.md": render_markdown(estimate_sections(estimates)),
        "regimes.txt": render_plain(comparison_sections(compare_regimes(article, prices, TODAY))),
        "usual.txt": render_plain(comparison_sections(compare_regimes(usual(), prices, TODAY, load_session_sizes()))),
    }
    root = str(synthesis.root)
    return {name: text.replace(root, "ROOT").replace(escape(root), "ROOT") for name, text in texts.items()}


@pytest.mark.parametrize("name", ["estimate.txt", "estimate.md", "regimes.txt", "usual.txt"])
def test_reports_read_as_agreed(name: str, synthesis: Synthesis, article: Scenario, prices: PriceBook) -> None:
    """A whole report, for a person to read; change the golden when a change of it is meant."""
    expected = (GOLDENS / name).read_text(encoding="utf-8")

    assert reports(synthesis, article, prices)[name] == expected


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0.005", "0.01"),
        ("0.0049", "0.00"),
        ("2.675", "2.68"),
        ("1E+3", "1000.00"),
        ("1234567890123456789012345678901234", None),
    ],
)
def test_cents_are_rounded_half_up(amount: str, shown: str | None) -> None:
    """Halves go up, and no size runs out of digits."""
    assert figures.cents(Decimal(amount)) == (shown or f"{amount}.00")


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "0"),
        ("0.45776", "0.4578"),
        ("19.0735", "19.07"),
        ("50", "50"),
        ("7920000.4", "7,920,000"),
        ("1E+6", "1,000,000"),
    ],
)
def test_quantities_are_as_fine_as_their_size_deserves(amount: str, shown: str) -> None:
    """Small ones keep four places, large ones none."""
    assert figures.quantity(Decimal(amount)) == shown


def test_a_unit_price_shows_the_tiers_that_are_reached(prices: PriceBook) -> None:
    """Up to a bound one price, past it two; tiny prices are for a million units."""
    ingestion = prices.row("us-east-1", "span_ingestion")

    assert figures.unit_price(ingestion) == "$0.35 per GB"
    assert figures.unit_price(ingestion, Decimal(10_240)) == "$0.35 per GB"
    assert figures.unit_price(ingestion, Decimal(10_241)) == "$0.35 / 0.20 per GB"
    assert figures.unit_price(ingestion, figures.EVERY_TIER) == "$0.35 / 0.20 / 0.15 per GB"
    assert figures.unit_price(prices.row("us-east-1", "spans_indexed")) == "$0.75 per million spans"


def test_exact_numbers_have_no_exponent() -> None:
    """Plain notation for any reader of JSON."""
    assert figures.plain(Decimal("7.5E-7")) == "0.00000075"


def test_no_renderer_lets_a_text_act() -> None:
    """Control characters, markup, Markdown and HTML come out as text in every format."""
    hostile = "\x1b[2J\u202e[red]x[/red] <b> |*_`\n# y"
    section = Section(hostile, Table((hostile, "n"), (Row((hostile, "1")), Row((hostile, "2"), Kind.TOTAL))))
    stream = io.StringIO()
    print_terminal([section], Console(file=stream, width=120))
    plain, markdown, terminal = render_plain([section]), render_markdown([section]), stream.getvalue()

    for text in (plain, markdown, terminal):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\n# y" not in text
    assert "[red]x[/red]" in terminal
    assert r"\<b\> \|\*\_\`" in markdown
    assert all(row.count("|") - row.count(r"\|") == 3 for row in markdown.splitlines() if row.startswith("| "))


def archived(article: Scenario, prices: PriceBook, sessions: int = 1_000_000) -> Estimate:
    """Price the article's traffic under the regime that has most lines."""
    deployment = replace(article.deployment, regime=Regime.ARCHIVE, masking=True, environment="dev")
    workload = replace(article.workload, sessions=Decimal(sessions))
    return estimate(Scenario(deployment, workload), prices, TODAY)


def on_terminal(sections: Iterable[Section], width: int) -> str:
    """Return what a terminal of a width shows."""
    stream = io.StringIO()
    print_terminal(sections, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.mark.parametrize("sessions", [1_000_000, 10**12])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_terminal_is_too_narrow_for_an_amount(
    article: Scenario, prices: PriceBook, *, width: int, sessions: int
) -> None:
    """Every line's amount of a month is there whole, nothing is cut, and no line is wider than the terminal."""
    result = archived(article, prices, sessions)
    priced, compared = (
        on_terminal(estimate_sections([result]), width),
        on_terminal(comparison_sections(compare_regimes(result.scenario, prices, TODAY)), width),
    )
    amounts = [figures.money(line.monthly or Decimal(0)) for line in result.lines]

    for shown in (priced, compared):
        words = iter(shown.split())
        assert "…" not in shown
        assert max(map(len, shown.splitlines())) <= width
        assert all(amount in words for amount in amounts), "all amounts, in their order"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (120, ["Unit price", "First month", "Share"]),
        (80, ["Unit price", "First month"]),
        (60, ["First month"]),
        (50, []),
    ],
)
def test_a_narrow_terminal_leaves_out_the_least_important_columns(
    article: Scenario, prices: PriceBook, *, width: int, shown: list[str]
) -> None:
    """First the share goes, then the unit price, then the first month; quantity and month stay."""
    text = on_terminal(estimate_sections([archived(article, prices)]), width)
    heading = next(line for line in text.splitlines() if line.startswith("Line "))

    assert [name for name in ("Unit price", "First month", "Share") if name in heading] == shown
    assert "Quantity" in heading
    assert "5,000,000 read units" in text


def test_where_no_table_fits_every_cell_has_its_line(article: Scenario, prices: PriceBook) -> None:
    """On the narrowest terminals rows become lists, which lack no column."""
    text = on_terminal(estimate_sections([archived(article, prices)]), 40)
    lines = [line.rstrip() for line in text.splitlines()]
    first = lines.index("Span ingestion")

    assert lines[first + 1 : first + 4] == ["    Quantity: 19.07 GB", "    Unit price: $0.35 per GB", "    Month: 6.68"]
    assert lines[first + 4 : first + 6] == ["    First month: 6.68", "    Share: 10.2 %"]


def test_words_in_columns_of_numbers_are_not_cut(article: Scenario, prices: PriceBook) -> None:
    """Four columns that depend on usage, and a name without a space, stay whole on a narrow terminal."""
    name = "x" * 50
    queries = (replace((article.workload.queries or ())[0], name=name),)
    unknown = replace(article, workload=replace(article.workload, sessions=None, queries=queries))
    compared = on_terminal(comparison_sections(compare_regimes(unknown, prices, TODAY)), 60)
    deployment = replace(unknown.deployment, regime=Regime.CONTENT)
    priced = on_terminal(estimate_sections([estimate(replace(unknown, deployment=deployment), prices, TODAY)]), 60)

    assert "content: depends on usage" in compared
    assert sum(len(word) for word in priced.split() if set(word) == {"x"}) == len(name)
    assert "…" not in compared + priced


def test_every_report_says_what_it_leaves_out(article: Scenario, prices: PriceBook) -> None:
    """What no meter prices is listed under a heading of its own in every format."""
    sections = list(estimate_sections([archived(article, prices)]))
    compared = list(comparison_sections(compare_regimes(article, prices, TODAY)))

    for report in (sections, compared):
        for text in (render_plain(report), render_markdown(report), on_terminal(report, 120)):
            assert "Not priced" in text
            assert all(item in text for item in NOT_PRICED)


def test_a_total_that_lacks_a_line_says_so(article: Scenario, prices: PriceBook) -> None:
    """Without queries stated, the total is a least amount, and the line stands under it with its unit price."""
    scenario = replace(article, workload=replace(article.workload, queries=None))
    text = render_plain(comparison_sections(compare_regimes(scenario, prices, TODAY)))

    assert "at least 9.42" in text
    assert "Logs Insights queries: depends on usage: $0.005 per GB" in text


@pytest.mark.parametrize(
    ("amount", "shown"), [("0", "0.00"), ("0.0001", "<0.01"), ("0.005", "0.01"), ("2393.99", "2,393.99")]
)
def test_a_small_amount_is_not_shown_as_nothing(amount: str, shown: str) -> None:
    """Only what is free reads 0.00."""
    assert figures.money(Decimal(amount)) == shown


def test_the_guard_s_records_are_added_up_apart_from_the_trail(article: Scenario, prices: PriceBook) -> None:
    """Where there are some: the bill of a trail can be compared with others', and the total is the sum of both."""
    held = estimate(holding(article, table=True, kms_keys=1), prices, TODAY, load_session_sizes())
    text = render_plain(estimate_sections([held]))
    alone = render_plain(estimate_sections([archived(article, prices)]))

    assert held.lines == (*held.trail_lines, *held.guard_lines)
    assert next(line for line in text.splitlines() if line.startswith("The trail ")).split()[2:4] == ["60.87", "36.74"]
    assert "The guard's records" in text
    assert "The guard's records" not in alone


def test_the_trail_is_compared_with_the_agent_where_both_are_known(article: Scenario, prices: PriceBook) -> None:
    """Half a comparison is none."""
    tokens = Tokens(None, Decimal(12_000), Decimal(1_200), Decimal(1), Decimal(5))
    known = replace(article, workload=replace(article.workload, tokens=tokens))
    unknown = replace(known, workload=replace(known.workload, queries=None))
    shares = [
        next(line for line in text.splitlines() if line.startswith("The trail is of that")).split()[5:]
        for text in (
            render_plain(comparison_sections(compare_regimes(scenario, prices, TODAY))) for scenario in (known, unknown)
        )
    ]

    assert shares[0] == ["0.2", "%", "0.3", "%", "0.3", "%", "1.3", "%"]
    assert shares[1] == 4 * ["depends", "on", "usage"]
