"""Alignment, automata, gains and online learners. Imports nothing else of galloon."""
