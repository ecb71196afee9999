"""Check hook files, and try hooks outside of a run."""
