"""One file for each meter: its scenario, and a table of what it costs."""
