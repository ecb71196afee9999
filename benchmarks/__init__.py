"""What `make bench` runs: ratios measured in one run, since machines are noisy."""
