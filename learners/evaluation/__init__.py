"""How good a text is: named normalisers, error rates with their intervals, what the slots could have given.

`normalizers` (named; say which one in every report), `error_rate` (WER and CER as counts that add up),
`bootstrap` (95 % intervals over utterances, paired differences), `agreement` (the best token per slot in
hindsight). Everything here is a pure function; the daemon and the clients use it alike.
"""
