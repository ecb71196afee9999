"""Measure the cost model: how long a command makes people wait, and how fast scenarios are priced."""
