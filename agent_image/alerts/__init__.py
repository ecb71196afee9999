"""Channels that bring alerts to people: a webhook, a topic."""
