"""Tests of the rastro command."""
