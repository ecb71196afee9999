"""Stores: where the guard's records lie. Backends of `guard.records` and nothing else."""
