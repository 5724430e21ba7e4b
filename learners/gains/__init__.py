"""What a path is worth: U(output of the path, target), as a number for each transition of A'.

`gain` is the protocol; `ngram`, `patterns`, `regex`, `gappy` count patterns, `slot_match` counts slots,
`arbitrary` is a number that the client gives. `spec` reads a gain from JSON. Tokens are strings; the empty
string is the null token, a symbol like any other.
"""
