"""The page of a report: what it shows, and that it stands alone."""
