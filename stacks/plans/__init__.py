"""Plan an environment on one machine and apply that very plan on another, as a pipeline does; tell what has drifted."""
