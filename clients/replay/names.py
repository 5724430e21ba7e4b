"""What the systems of a replay are called in its results, beside the engines, which have names of their own."""

GALLOON = "galloon"
VOTE = "vote"
UNIFORM = "uniform"
MBR = "mbr"  # of the union of all lattices; of one engine alone: "mbr, ENGINE"
ORACLE = "oracle_slot"
ORACLE_WITH_ALTERNATIVES = "oracle_slot_with_alternatives"
ORACLE_LATTICE = "oracle_lattice"
