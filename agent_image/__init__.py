"""What runs: the container that holds the agent, its retrieval, its telemetry and its guard."""
