"""The story that the product exists for: an answer, and later what it was reading."""
