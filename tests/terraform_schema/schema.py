"""Hold the provider's argument schema as frozen records, and read it from the committed extract."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

EXTRACT: Final = Path(__file__).with_name("aws.json")
"""The committed extract; `python -m tests.terraform_schema.extract` writes it anew."""


class Type(StrEnum):
    """Name the shapes that a value may have."""

    STRING = "string"
    NUMBER = "number"
    BOOL = "bool"
    LIST = "list"
    MAP = "map"
    BLOCK = "block"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Argument:
    """Describe one argument: `element` types what a list or a map holds, `block` the arguments of a nested block."""

    required: bool
    type: Type
    element: Type | None = None
    block: Mapping[str, Argument] | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """Describe one resource or data source: what may be written to it and what may be read from it."""

    arguments: Mapping[str, Argument]
    attributes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Schema:
    """Describe the types of one provider version; `local_name` is the name of its block."""

    provider: str
    version: str
    resources: Mapping[str, Kind]
    data_sources: Mapping[str, Kind]
    provider_arguments: Mapping[str, Argument]

    @property
    def local_name(self) -> str:
        """Return the name that provider blocks carry: `aws` for `hashicorp/aws`."""
        return self.provider.rpartition("/")[2]


def load_schema(path: Path = EXTRACT) -> Schema:
    """Read a schema from an extract."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    return Schema(
        provider=raw["provider"],
        version=raw["version"],
        resources=_kinds(raw["resource"], raw["resource_attributes"]),
        data_sources=_kinds(raw["data"], raw["data_attributes"]),
        provider_arguments=_arguments(raw["provider_arguments"]),
    )


def _kinds(arguments: dict[str, Any], attributes: dict[str, list[str]]) -> dict[str, Kind]:
    return {name: Kind(_arguments(block), frozenset(attributes[name])) for name, block in arguments.items()}


def _arguments(raw: dict[str, Any]) -> dict[str, Argument]:
    return {name: _argument(argument) for name, argument in raw.items()}


def _argument(raw: dict[str, Any]) -> Argument:
    return Argument(
        required=raw["required"],
        type=Type(raw["type"]),
        element=Type(raw["element"]) if "element" in raw else None,
        block=_arguments(raw["block"]) if "block" in raw else None,
    )
