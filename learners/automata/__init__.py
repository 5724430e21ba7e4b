"""Expert automata A and the context-dependent automaton A', and their import, export and drawing.

`expert` holds A (the ensemble and the explicit automaton). `direct` builds A', as `ensemble_context` or
`graph_context`; `literal` builds it as the paper does, with OpenFst, from `rewriting`'s T_A.
`att_text`, `openfst` and `untrusted` read and write; `diagram` and `drawing` draw. `bounded_language` is what
gains need of OpenFst.
"""
