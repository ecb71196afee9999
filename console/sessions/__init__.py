"""Recent sessions: how each fared, what it cost, what the guard did, and what people said of it."""
