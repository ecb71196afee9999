"""What a command would do is told before it runs."""
