"""Typed settings files: read once, validated whole, frozen."""
