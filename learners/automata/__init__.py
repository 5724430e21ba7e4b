"""Expert automata A and the context-dependent automaton A', and their import, export and drawing.

`expert` holds A (the ensemble and the explicit automaton), `context` builds A' directly, `literal` builds
it as the paper does, with OpenFst; `openfst` reads and writes, `drawing` draws.
"""
