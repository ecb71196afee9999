"""Measure what a trail really takes in and what queries really read, to set beside the estimate."""
