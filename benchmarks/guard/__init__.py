"""What the guard costs."""
