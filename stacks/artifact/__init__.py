"""What the runtime runs: an image, or a bundle of code; how each is built, and how a settings file names it."""
