"""Write the parts of the documentation that repeat what the code says, between `<!-- name -->` and `<!-- /name -->`.

Run by `make docs`; a test compares the committed pages with what this writes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from agent_image.hooks.deviations import DEVIATIONS
from agent_image.hooks.options import EVENTS, ROWS, TYPES
from cost_model.advice import RULES
from cost_model.estimate import NOT_PRICED
from cost_model.prices import load_prices
from cost_model.render.figures import UNKNOWN, money, quantity, signed
from cost_model.report.steps import Step, article_scenario, guard_beside, measured, steps
from cost_model.session_sizes import load_session_sizes
from docs import alarms_page, commands_page, contract_page, iam_page

ROOT = Path(__file__).parent.parent
PAGES = (
    *(ROOT / "README.md", ROOT / "docs" / "settings.md", ROOT / "docs" / "cost.md", ROOT / "docs" / "hooks.md"),
    *(ROOT / "docs" / "reference" / f"{name}.md" for name in ("contract", "commands", "iam", "alarms")),
)


def tree() -> str:
    """Draw the folders and modules that git tracks, each with the first sentence of its docstring."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607 - git stands on PATH
    files = [Path(name) for name in listed.stdout.splitlines()]
    packages = ("stacks", "agent_image", "cost_model", "console")
    modules = [file for file in files if file.parts[0] in packages and file.suffix == ".py"]
    lines = []
    for file in sorted(modules, key=lambda file: (packages.index(file.parts[0]), file.parent.as_posix(), file.name)):
        sentence = _first_sentence(ROOT / file)
        if file.name == "__init__.py":
            depth = len(file.parts) - 2
            lines.append(f"{'  ' * depth}{file.parent.name + '/':<{34 - 2 * depth}}{sentence}")
        elif file.name != "__main__.py":
            depth = len(file.parts) - 1
            lines.append(f"{'  ' * depth}{file.name:<{34 - 2 * depth}}{sentence}")
    return "```text\n" + "\n".join(lines) + "\n```"


def _first_sentence(path: Path) -> str:
    match = re.match(r'"""(.+?)(?:\.\s|\.?"""|\.?\n\n)', path.read_text(), re.DOTALL)
    return " ".join(match[1].split()) if match else ""


@dataclass(frozen=True, slots=True)
class Row:
    """Describe one key of a settings file."""

    key: str
    value: str
    default: str
    meaning: str


def settings(kind: str) -> str:
    """Tabulate the keys of a settings file: key, type and range, default, meaning."""
    schema = json.loads((ROOT / "stacks" / "settings" / f"{kind}.schema.json").read_text())
    rows = [f"| `{row.key}` | {row.value} | {row.default} | {row.meaning} |" for row in _rows(schema, schema, "")]
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows])


def _rows(table: dict[str, Any], schema: dict[str, Any], prefix: str) -> Iterator[Row]:
    required = table.get("required", [])
    for key, found in table["properties"].items():
        path = f"{prefix}{key}"
        choices = [_resolved(choice, schema) for choice in _choices(found)]
        if tables := [choice for choice in choices if "properties" in choice]:
            yield from _merged([list(_rows(choice, schema, f"{path}.")) for choice in tables])
            continue
        if "properties" in (named := _resolved(next(iter(found.get("patternProperties", {}).values()), {}), schema)):
            yield from _rows(named, schema, f"{path}.<name>.")
            continue
        default = "required" if key in required else _default(found)
        meaning = found.get("description") or " ".join(filter(None, (choice.get("description") for choice in choices)))
        yield Row(path, " or ".join(dict.fromkeys(_kind(choice, schema) for choice in choices)), default, meaning)


def _merged(variants: list[list[Row]]) -> Iterator[Row]:
    """Join the rows of a table that comes in variants: the first key of each tells them apart."""
    if len(variants) == 1:
        yield from variants[0]
        return
    first = variants[0][0]
    names = [rows[0].value for rows in variants]
    yield replace(first, value=" or ".join(names), meaning="Decides which of the next keys there are.")
    for name, rows in zip(names, variants, strict=True):
        yield from (replace(row, meaning=f"With {name}: {row.meaning}") for row in rows[1:])


def _choices(found: dict[str, Any]) -> list[dict[str, Any]]:
    choices: list[dict[str, Any]] = found.get("anyOf") or found.get("oneOf") or [found]
    return [choice for choice in choices if choice.get("type") != "null"]


def _resolved(found: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in found:
        target: dict[str, Any] = schema["$defs"][found["$ref"].rpartition("/")[2]]
        return target
    return found


def _kind(found: dict[str, Any], schema: dict[str, Any]) -> str:
    if "const" in found:
        return f"`{found['const']}`"
    if "enum" in found:
        shown = [f"`{value}`" for value in found["enum"]]
        return ", ".join(shown) if len(shown) <= _LISTED_CHOICES else f"one of {len(shown)} names"
    match found["type"]:
        case "array":
            item = _resolved(found["items"], schema)
            inner = ", ".join(f"`{key}`" for key in item.get("properties", ()))
            return f"tables of {inner}" if inner else f"list of {_kind(item, schema)}"
        case kind:
            return _KINDS[kind] + _range(found)


_LISTED_CHOICES = 22  # the retention periods, which people want to see
_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "table of names and texts",
}


def _range(found: dict[str, Any]) -> str:
    low, high = found.get("minimum"), found.get("maximum")
    if low is None:
        return ""
    return f", {low:,.15g} or more" if high is None else f", {low:,.15g} to {high:,.0f}"


def _default(found: dict[str, Any]) -> str:
    if "default" not in found:
        return "none"
    return f"`{json.dumps(found['default'], ensure_ascii=False)}`"


def regimes() -> str:
    """Price the capture regimes under the example's assumptions."""
    command = [sys.executable, "-m", "cost_model", "regimes", "--usage", "cost_model/examples/article.toml"]
    answer = subprocess.run(
        [*command, "--format", "json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(answer.stdout)["regimes"]
    rows = [f"| {name} | {regime['first_month']} | {regime['total']} |" for name, regime in found.items()]
    return "\n".join(["| regime | first month, USD | each month after, USD |", "|---|---:|---:|", *rows])


def archive_steps() -> str:
    """Price the way from the article's content to archive, with its sizes and with the measured ones."""
    prices, sizes, today = load_prices(), load_session_sizes(), datetime.now(tz=UTC).date()
    scenario = article_scenario()
    article, image = (steps(each, prices, today, sizes) for each in (scenario, measured(scenario)))
    rows = [
        f"| {step.label} | {_moved(step)} | {_usd(step.total)} | {_moved(own)} | {_usd(own.total)} |"
        for step, own in zip(article, image, strict=True)
    ]
    head = "| step | change | the article's sizes, USD | change | measured sizes, USD |"
    guard = (
        f"Beside the measured {_usd(image[-1].total)} stand the guard's records and its audit, which the article does "
        f"not have: {_usd(guard_beside(measured(scenario), prices, today, sizes))} a month, the same in every regime."
    )
    return "\n".join([head, "|---|---:|---:|---:|---:|", *rows, "", *textwrap.wrap(guard, 120)])


def _moved(step: Step) -> str:
    return "" if step.change is None else signed(step.change)


def _usd(amount: Decimal | None) -> str:
    return UNKNOWN if amount is None else money(amount)


def not_priced() -> str:
    """List what no meter counts."""
    return "\n".join(line for text in NOT_PRICED for line in textwrap.wrap(f"* {text}", 120, subsequent_indent="  "))


def advice() -> str:
    """Tabulate the rules of advice."""
    found = [
        f"| `{rule.code}` | {rule.threshold.format(bound=quantity(rule.bound))} | {rule.source} |" for rule in RULES
    ]
    return "\n".join(["| advice | given where | threshold from |", "|---|---|---|", *found])


def hook_options() -> str:
    """Tabulate the options of a hook."""
    rows = []
    for row in ROWS:
        hooks = "all" if row.types == TYPES else f"{', '.join(sorted(row.types))}"
        events = "" if row.events == EVENTS else f"; {', '.join(sorted(row.events))}"
        default = "required" if row.required else "one of them is required" if row.one_of else row.default or "none"
        rows.append(f"| `{row.key}` | {hooks}{events} | {row.form} | {default} | {row.meaning} |")
    return "\n".join(["| option | hooks | value | default | meaning |", "|---|---|---|---|---|", *rows])


def hook_deviations() -> str:
    """Tabulate where hooks differ from Azure's."""
    rows = [f"| {one.point} | {one.azure} | {one.ours} | {one.why} |" for one in DEVIATIONS]
    return "\n".join(["| point | Azure | here | why |", "|---|---|---|---|", *rows])


def bench() -> str:
    """Quote the last measurement."""
    found = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    rows = [f"| {ratio['name']} | {ratio['ratio']:.3f} | {ratio['at_most']:.3f} |" for ratio in found["ratios"]]
    head = f"Measured on {found['measured']} ({found['machine']}) by `make bench`:"
    return "\n".join([head, "", "| ratio | found | at most |", "|---|---:|---:|", *rows])


PARTS: dict[str, Callable[[], str]] = {
    "tree": tree,
    "account-settings": lambda: settings("account"),
    "environment-settings": lambda: settings("environment"),
    "regimes": regimes,
    "archive-steps": archive_steps,
    "not-priced": not_priced,
    "advice": advice,
    "hook-options": hook_options,
    "hook-deviations": hook_deviations,
    "bench": bench,
    "contract": contract_page.names,
    "settings-document": iam_page.settings_document,
    "discovery-document": iam_page.discovery_document,
    "commands": commands_page.commands,
    "iam": iam_page.iam,
    "metrics": alarms_page.metrics,
    "alarms": alarms_page.alarms,
}


def rendered(page: Path) -> str:
    """Render a page with every part as the code says it now."""

    def part(match: re.Match[str]) -> str:
        return f"<!-- {match[1]} -->\n{PARTS[match[1]]()}\n<!-- /{match[1]} -->"

    return re.sub(r"<!-- ([a-z-]+) -->\n.*?<!-- /\1 -->", part, page.read_text(), flags=re.DOTALL)


if __name__ == "__main__":
    for written in PAGES:
        written.write_text(rendered(written))
