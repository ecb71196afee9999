"""Test the typed settings files."""
