"""Tests of the stores, beyond what all of them promise."""
