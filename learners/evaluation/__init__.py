"""How good a text is: `error_rate` (WER and CER as counts that add up) and `bootstrap` (95 % intervals over
utterances, paired differences). Everything here is a pure function; the daemon and the clients use it alike.
"""
