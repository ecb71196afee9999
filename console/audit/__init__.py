"""The audit: whether it is whole, what it says, and what comes in."""
