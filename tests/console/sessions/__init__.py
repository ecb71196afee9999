"""The list of recent sessions."""
