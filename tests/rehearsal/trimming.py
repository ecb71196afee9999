"""Leave out of a stack what a provider or a pretend AWS does not know, and say what was left out and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

UNKNOWN_TO_MOTO: Final[Mapping[str, str]] = dict.fromkeys(
    (
        *("aws_bedrockagentcore_agent_runtime", "aws_bedrockagentcore_agent_runtime_endpoint", "aws_budgets_budget"),
        *("aws_cloudwatch_log_account_policy", "aws_cloudwatch_log_data_protection_policy"),
        *("aws_cloudwatch_log_index_policy", "aws_cloudwatch_query_definition"),
        *("aws_xray_indexing_rule", "aws_xray_trace_segment_destination"),
    ),
    "the pretend AWS does not speak of it",
)
_REFERENCE: Final = re.compile(r"\b(aws_[a-z0-9_]+\.[A-Za-z0-9_-]+)")

Stack = dict[str, Any]


def trim(stack: Stack, unknown: Mapping[str, str]) -> dict[str, str]:
    """Drop every resource of an unknown type, and what refers to one; give why, by address.

    An order that was only waited for is dropped alone, and so is an output.
    """
    dropped = {f"{kind}.{name}": unknown[kind] for kind, name, _ in _each(stack) if kind in unknown}
    while more := dict(_referring(stack, dropped)):
        dropped |= more
    for kind, name, arguments in list(_each(stack)):
        if f"{kind}.{name}" in dropped:
            del stack["resource"][kind][name]
        elif "depends_on" in arguments:
            arguments["depends_on"] = [address for address in arguments["depends_on"] if address not in dropped]
    stack["resource"] = {kind: named for kind, named in stack["resource"].items() if named}
    outputs = stack.get("output", {})
    for name in [name for name, output in outputs.items() if _names(output) & dropped.keys()]:
        del outputs[name]
        # The framework CLI looks for each output that its own notes list, and dies where one is not there.
        for noted in stack.get("//", {}).get("outputs", {}).values():
            noted.pop(name, None)
    stack["removed"] = [block for block in stack.get("removed", []) if block["from"].partition(".")[0] not in unknown]
    return dropped


def _referring(stack: Stack, dropped: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for kind, name, arguments in _each(stack):
        own = {key: value for key, value in arguments.items() if key not in {"depends_on", "//"}}
        found = sorted(_names(own) & dropped.keys())
        if found and f"{kind}.{name}" not in dropped:
            yield f"{kind}.{name}", f"refers to {found[0]}"


def _names(value: Any) -> set[str]:
    return set(_REFERENCE.findall(json.dumps(value)))


def _each(stack: Stack) -> Iterator[tuple[str, str, Stack]]:
    for kind, named in stack.get("resource", {}).items():
        for name, arguments in named.items():
            yield kind, name, arguments
