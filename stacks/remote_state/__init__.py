"""Where Terraform keeps its state, whether it is there, and how it moves."""
