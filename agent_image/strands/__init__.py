"""Adapters to Strands: the only place that knows the framework's hooks and middleware."""
