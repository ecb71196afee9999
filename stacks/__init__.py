"""What is deployed: settings, stacks, and policies as pure data."""
