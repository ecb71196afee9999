"""Kill real processes at every boundary of the guard's writes, and see what people find afterwards."""
