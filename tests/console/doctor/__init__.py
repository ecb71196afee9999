"""The doctor finds what is wrong with a trail, and says how to mend it."""
