"""Combiners host a learner: `choose` answers an utterance, `learn` takes in feedback on the answer."""
