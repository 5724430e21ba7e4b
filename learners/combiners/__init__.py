"""What hosts a learner: an utterance in, a choice out; later feedback in, a lesson out."""
