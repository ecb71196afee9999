"""Hook files to begin with: name one in the settings, or copy it."""
