"""Define what every table of a settings file has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Refuse unknown keys and values of another type; never change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
