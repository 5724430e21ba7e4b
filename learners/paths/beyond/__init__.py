"""Beyond the paper: learners for the problems that it leaves open (docs/algorithms.md, "Open problems")."""
