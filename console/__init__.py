"""What people use: the rastro command."""
