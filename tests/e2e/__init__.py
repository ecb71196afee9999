"""The agent as it runs: a process of its own, from the image's own contents."""
