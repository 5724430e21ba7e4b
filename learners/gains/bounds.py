"""How large the numbers of a gain may be."""

# Products of counts and sums over all rounds of a learner's life stay finite numbers, with room to spare.
MOST_GAIN = 1e9
