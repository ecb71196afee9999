"""Tests of the guard."""
