"""The guard: what a call may do, what it may cost, who let it, and what became of it. Free of any framework."""
