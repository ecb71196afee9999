"""The articles that the product grew from: each fault of their sample code has a test here that it would fail."""
