"""Run `python -m cost_model`."""

from __future__ import annotations

from cost_model.cli import app

app(prog_name="python -m cost_model")
