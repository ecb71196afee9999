"""Run what a deployment hooks into its agent: before a tool, after it, and before an answer."""
