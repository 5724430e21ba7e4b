"""The tied learner: weights chosen by what can be seen before choosing, shared by all positions.

`learner` mixes specialists of contexts from coarse to fine; `bounds` are its theorems; `estimates` turn partial
feedback into losses; `contexts` and `explanation` say in words what it does.
"""
