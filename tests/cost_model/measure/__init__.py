"""Tests of what measures a trail."""
