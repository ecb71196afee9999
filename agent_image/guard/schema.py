"""Hold arguments to a tool's JSON schema, and fetch nothing for it: a schema may come out of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry


def misfits(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[ValidationError]:
    """Give what does not fit.

    Raises:
        Exception: of many kinds, where the schema is none.
    """
    Draft202012Validator.check_schema(dict(schema))
    yield from Draft202012Validator(dict(schema), registry=Registry()).iter_errors(dict(arguments))
