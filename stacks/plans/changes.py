"""Read what a plan would change, and say it by address and action alone: a plan's values stay where they are. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_QUIET: Final = (["no-op"], ["read"])
_WORDS: Final = {("delete", "create"): "replace", ("create", "delete"): "replace", ("forget",): "forget"}


@dataclass(frozen=True, slots=True)
class Change:
    """Name one thing that a plan would change.

    Attributes:
        action: Terraform's word: create, update, delete, replace, forget.
    """

    stack: str
    address: str
    action: str


def changes_of(stack: str, plan: Mapping[str, Any]) -> Iterator[Change]:
    """Read the changes out of `terraform show -json` of a plan: of resources first, then of outputs."""
    for change in plan.get("resource_changes", []):
        if (actions := change["change"]["actions"]) not in _QUIET:
            yield Change(stack, change["address"], _word(actions))
    for name, change in plan.get("output_changes", {}).items():
        if change["actions"] not in _QUIET:
            yield Change(stack, f"output.{name}", _word(change["actions"]))


def report(heading: str, changes: Iterable[Change]) -> str:
    """Tabulate changes in Markdown."""
    rows = [f"| {change.stack} | `{change.address}` | {change.action} |" for change in changes]
    return "\n".join([f"### {heading}", "", "| stack | what | action |", "|---|---|---|", *rows, ""])


def _word(actions: list[str]) -> str:
    return _WORDS.get(tuple(actions), " and ".join(actions))
