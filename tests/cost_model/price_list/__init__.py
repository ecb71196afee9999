"""Tests of what asks AWS for its published prices."""
