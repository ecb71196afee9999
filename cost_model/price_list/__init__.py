"""Ask AWS for its published prices, and add what is found to the price book."""
