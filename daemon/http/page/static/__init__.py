"""The files that a browser loads, as they are: no build step, and nothing from other hosts."""
