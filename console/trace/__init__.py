"""Lead from a session to the words that the model was reading, and from a passage back to every answer it stood in."""
