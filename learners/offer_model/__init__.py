"""The offer model: a learned model of which token of a slot is right. It is an expert of the default learner.

`OfferModel` (model) is an online log-linear model over sparse features (templates) with bounded memory; it also
learns how words are spelled and follow each other (language). `explanation` names the strongest features.
"""

from galloon.learners.offer_model.explanation import ExplainedSlot
from galloon.learners.offer_model.model import OfferModel, OfferModelSettings, ScoredOffers

__all__ = ["ExplainedSlot", "OfferModel", "OfferModelSettings", "ScoredOffers"]
