"""SplitMix64 keyed by seed and round, in whole numbers of any size."""

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def uniforms(seed, round_number, count):
    z = mix(mix((seed + GOLDEN) & MASK) ^ ((round_number * GOLDEN) & MASK))
    return [(mix((z + (i + 1) * GOLDEN) & MASK) >> 11) / 2**53 for i in range(count)]


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)
