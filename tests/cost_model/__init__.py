"""Prove what the cost model promises."""
