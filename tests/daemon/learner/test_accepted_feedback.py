"""What each setting takes."""

from galloon.daemon.learner.accepted_feedback import ACCEPTED
from galloon.learners.paths.protocol import Setting
from galloon.v1 import combine_pb2 as wire


def test_every_kind_of_feedback_is_in_the_table_of_settings():
    """The bandit setting takes them all; what was taught can be withdrawn in all of them."""
    kinds = wire.Feedback.DESCRIPTOR.oneofs_by_name["feedback"].fields
    assert set(ACCEPTED[Setting.BANDIT]) | {"withdrawn"} == {kind.name for kind in kinds}
