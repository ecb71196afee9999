"""Tests of the audit's commands."""
