"""A learned expert: scores the offers of a slot by what speaks for them, and learns from what was true.

`OfferModel` (model) is an online log-linear model over sparse features (templates) with bounded memory; it also
learns how words are spelled and follow each other (language). `explanation` says which features spoke.
"""

from galloon.learners.offer_model.explanation import ExplainedSlot
from galloon.learners.offer_model.model import OfferModel, OfferModelSettings, ScoredOffers

__all__ = ["ExplainedSlot", "OfferModel", "OfferModelSettings", "ScoredOffers"]
