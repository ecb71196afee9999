"""Check that an environment's trail is in force, and say how to mend what is not."""
