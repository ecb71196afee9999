"""Meter what else sessions write on standard output and error: notices, what libraries print, EMF lines."""

from __future__ import annotations

from typing import Final

from cost_model.meters.log_ingestion import by_class

STDOUT_INGESTION: Final = by_class(
    "stdout_ingestion",
    "Other output ingestion",
    lambda scenario: scenario.stdout_gb,
    applies=lambda scenario: scenario.workload.stdout_kb_per_session is not None,
)
"""Where `stdout_kb_per_session` is not stated the line is left out, and named among what is not priced."""
