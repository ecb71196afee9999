"""What it costs: pure calculation over dated price rows."""
