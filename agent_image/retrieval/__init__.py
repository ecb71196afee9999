"""Passages: what the model reads, how each is addressed, and how an address leads back to the words."""
