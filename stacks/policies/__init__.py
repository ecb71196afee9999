"""Permissions as pure statements, each with its reason."""
