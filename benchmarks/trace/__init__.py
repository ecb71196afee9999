"""What tracing costs."""
