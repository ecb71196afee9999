"""Read a Dockerfile as Docker does, as far as ours goes: comments, continued lines, stages, variables, exec form."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from string import Template


@dataclass(frozen=True, slots=True)
class Instruction:
    """Hold one instruction: its word in capitals, and the rest of the line."""

    word: str
    rest: str


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """Hold the instructions, comments gone and continued lines joined."""

    instructions: tuple[Instruction, ...]

    @property
    def base(self) -> str:
        """Give what the last stage starts from, arguments filled in."""
        arguments = dict(_pairs(one.rest) for one in self.instructions if one.word == "ARG")
        return Template(self.stages[-1][0].rest.split()[0]).substitute(arguments)

    @property
    def stages(self) -> list[list[Instruction]]:
        """Give the instructions of each stage, its FROM first."""
        stages: list[list[Instruction]] = []
        for instruction in self.instructions:
            if instruction.word == "FROM":
                stages.append([])
            if stages:
                stages[-1].append(instruction)
        return stages

    def last(self, word: str) -> str:
        """Give what the image that is built keeps: the last such instruction of the last stage."""
        return [one.rest for one in self.stages[-1] if one.word == word][-1]

    def environment(self) -> dict[str, str]:
        """Give the variables of the image that is built."""
        entries = (shlex.split(one.rest) for one in self.stages[-1] if one.word == "ENV")
        return dict(_pairs(entry) for held in entries for entry in held)

    def command(self) -> list[str]:
        """Give the command in its exec form."""
        found: list[str] = json.loads(self.last("CMD"))
        return found


def read(text: str) -> Dockerfile:
    return Dockerfile(tuple(_instructions(text)))


def _instructions(text: str) -> Iterator[Instruction]:
    joined = ""
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        joined += line.strip()
        if joined.endswith("\\"):
            joined = joined.removesuffix("\\")
            continue
        word, _, rest = joined.partition(" ")
        yield Instruction(word.upper(), rest.strip())
        joined = ""


def _pairs(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    assert equals, f"{entry!r}: is not of the form name=value"
    return name, value
