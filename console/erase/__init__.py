"""Erase a passage for good: from the archive, and from what is kept of the sessions whose models were reading it."""
