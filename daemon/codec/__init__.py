"""Where messages of the wire stop: to and from the values that the learners know.

`spec`, `utterance` and `feedback` come in (and go out, for round trips), `answers` go out. What is malformed
is refused as `Invalid` with the path of the field; what is too large as `LimitPassed`.
"""
