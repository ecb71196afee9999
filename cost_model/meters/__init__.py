"""Hold one file for each thing that is metered and charged."""
