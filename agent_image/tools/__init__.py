"""Tools: what the agent can do, each with its zone."""
