"""Servers on loopback that speak the protocols of AWS, for the real clients to talk to."""
