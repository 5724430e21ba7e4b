"""Whom to believe before anybody has corrected anything: learning from agreement alone.

AgreementModel      posteriors of the offers of each slot, and what they teach of the engines
Estimate            an engine's error rate as agreement sees it, with an interval
without_loops       an engine's words without a phrase that it says over and over
"""

from galloon.learners.agreement.estimates import Estimate
from galloon.learners.agreement.loops import without_loops
from galloon.learners.agreement.model import AgreementModel, Weighed

__all__ = ["AgreementModel", "Estimate", "Weighed", "without_loops"]
