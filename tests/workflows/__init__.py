"""The workflows that a team copies: pinned, sparing with rights, and run here as they are written."""
