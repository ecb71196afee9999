"""Tests of what watches over an environment."""
