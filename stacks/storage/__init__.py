"""What holds images, passages, audit objects and items."""
