"""The trail: where spans go, how long they stay, what is masked and indexed."""
