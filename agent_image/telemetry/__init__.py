"""Telemetry: what leaves the process as spans and lines, and what never does."""
