"""`galloon replay`: a file of engine outputs with true texts, played line by line: predict, then learn.

- `material`: the utterances of the file, as the learner will see them
- `session`, `play`: the learner, and the round trips to a daemon, strictly one after the other
- `baselines`: what needs no learning: the vote, a blind choice, the best token of each slot
- `results`: everything that a run came to; `summary` as JSON, `table` for people, `curves` over time
- `command`: the options, and the order in which things are done
"""
