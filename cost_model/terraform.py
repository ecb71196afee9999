"""Find blocks in Terraform's JSON syntax, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from cost_model.faults import exact

_SECTIONS: Final = frozenset({"resource", "provider", "terraform", "data", "locals", "module", "output", "variable"})
_MANY: Final = 100_000
_VARIABLE: Final = re.compile(r"\$\{var\.(\w+)\}")


@dataclass(frozen=True, slots=True)
class Stack:
    """Hold one synthesised stack: its name and its document."""

    name: str
    document: Mapping[str, object]

    @property
    def is_terraform(self) -> bool:
        """Tell whether the document has any of Terraform's sections."""
        return not _SECTIONS.isdisjoint(self.document)

    def resources(self, resource_type: str) -> Iterator[Block]:
        """Yield the resources of a type that are not counted out."""
        for section in objects(self.document.get("resource")):
            for named in objects(section.get(resource_type)):
                for name, value in named.items():
                    for arguments in objects(value):
                        if number(arguments.get("count")) != 0:
                            yield Block(self, resource_type, name, arguments)

    def provider_regions(self) -> Iterator[str]:
        """Yield the Regions of the AWS provider, the one without an alias first."""
        providers = [
            block for section in objects(self.document.get("provider")) for block in objects(section.get("aws"))
        ]
        for block in sorted(providers, key=lambda block: "alias" in block):
            region = self.text(block.get("region"))
            if region:
                yield region

    def local(self, name: str) -> object:
        """Return a local value, or None."""
        return next((table[name] for table in objects(self.document.get("locals")) if name in table), None)

    def resolve(self, value: object) -> object:
        """Return the default of a variable for a reference to it, and any other value as it is."""
        match = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        variables = (
            block for table in objects(self.document.get("variable")) for block in objects(table.get(match[1]))
        )
        return next((block["default"] for block in variables if "default" in block), value)

    def text(self, value: object) -> str | None:
        """Return a text that is known before a deployment; a reference is not."""
        resolved = self.resolve(value)
        return resolved if isinstance(resolved, str) and "${" not in resolved else None


@dataclass(frozen=True, slots=True)
class Block:
    """Hold one resource and the stack it stands in."""

    stack: Stack
    type: str
    name: str
    arguments: Mapping[str, object]

    @property
    def address(self) -> str:
        """Return the name under which other blocks refer to this one."""
        return f"{self.type}.{self.name}"

    @property
    def instances(self) -> int:
        """Count how many of it Terraform makes; one where only a deployment settles that."""
        each = self.arguments.get("for_each")
        if isinstance(each, dict | list):
            return len(each)
        count = self.number("count")
        return int(count) if count is not None and 0 <= count <= _MANY else 1

    def number(self, argument: str) -> Decimal | None:
        """Return an argument that is a number known before a deployment."""
        return number(self.stack.resolve(self.arguments.get(argument)))


def objects(value: object) -> Iterator[Mapping[str, object]]:
    """Yield what stands for a block: an object, or each object of a list."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            # "//" is where Terraform's JSON syntax keeps comments.
            yield {key: content for key, content in item.items() if key != "//"}


def number(value: object) -> Decimal | None:
    """Return a number, or a text that Terraform would convert into one."""
    if isinstance(value, str):
        try:
            parsed = Decimal(value)
        except InvalidOperation:
            return None
        return parsed if parsed.is_finite() else None
    return exact(value)


def resources(stacks: Iterable[Stack], resource_type: str) -> tuple[Block, ...]:
    """Collect the resources of a type from several stacks."""
    return tuple(block for stack in stacks for block in stack.resources(resource_type))
