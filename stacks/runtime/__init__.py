"""The runtime, its endpoint and its variables."""
