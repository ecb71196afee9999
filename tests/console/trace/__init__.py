"""A trail is read back, and what it says of a passage is what stands there now."""
