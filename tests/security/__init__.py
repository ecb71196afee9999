"""Static security checks of what is deployed."""
