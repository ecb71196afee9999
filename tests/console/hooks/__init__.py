"""Hook files are checked, and hooks tried, from the command line."""
