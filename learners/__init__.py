"""The science: automata, gains and online path learners. Imports nothing else of galloon."""
