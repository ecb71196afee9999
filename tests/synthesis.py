"""Synthesise the stacks of a settings folder and read the JSON back, as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.compose import compose
from stacks.framework import App
from stacks.settings.load import load

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stack:
    """Hold one synthesised stack."""

    name: str
    document: Json

    def resources(self, kind: str) -> dict[str, Json]:
        """Give the resources of a type, by name."""
        found: dict[str, Json] = self.document.get("resource", {}).get(kind, {})
        return found

    def only(self, kind: str) -> Json:
        """Give the one resource of a type."""
        found = self.resources(kind)
        assert len(found) == 1, f"{self.name} has {len(found)} of {kind}"
        return next(iter(found.values()))

    def each(self) -> Iterator[tuple[str, Json]]:
        """Walk through every resource by its address."""
        for kind, named in self.document.get("resource", {}).items():
            for name, arguments in named.items():
                yield f"{kind}.{name}", arguments

    def output(self, name: str) -> Any:
        """Give the value of an output."""
        return self.document["output"][name]["value"]

    def variables(self) -> dict[str, str]:
        """Give the variables of the runtime."""
        found: dict[str, str] = self.only("aws_bedrockagentcore_agent_runtime")["environment_variables"]
        return found


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Hold every stack of a settings folder, and where they were written."""

    folder: Path
    stacks: dict[str, Stack]
    manifest: Json

    def __getitem__(self, name: str) -> Stack:
        return self.stacks[name]

    @property
    def agents(self) -> list[Stack]:
        """List the agent stacks."""
        return [stack for name, stack in self.stacks.items() if name.startswith("agent-")]

    @property
    def accounts(self) -> list[Stack]:
        """List the account stacks."""
        return [stack for name, stack in self.stacks.items() if name.startswith("account-")]


def synthesise(settings: Path, out: Path) -> Synthesis:
    """Build and write every stack, as `main.py` does."""
    app = App(outdir=str(out))
    compose(app, load(settings))
    app.synth()
    return read(out)


def read(out: Path) -> Synthesis:
    """Read what a synthesis wrote."""
    manifest = json.loads((out / "manifest.json").read_text())
    stacks = {
        name: Stack(name, json.loads((out / stack["synthesizedStackPath"]).read_text()))
        for name, stack in manifest["stacks"].items()
    }
    return Synthesis(out, stacks, manifest)


def policy(rendered: str) -> list[Json]:
    """Read the statements of a policy document."""
    statements: list[Json] = json.loads(rendered)["Statement"]
    return statements


def by_sid(statements: list[Json]) -> dict[str, Json]:
    """Give statements by their names."""
    return {statement["Sid"]: statement for statement in statements}
