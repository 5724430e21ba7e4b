"""The short versions of the mutated messages; `make fault` sends 300,000 to the codec and 5,000 over the port."""

from pathlib import Path

from tests.abuse import codec_fuzz, port_fuzz
from tests.daemon.serving import serving


def test_no_mutated_message_gets_more_than_a_refusal_out_of_the_codec():
    """Values or documented refusals; and the damages are such that all of these happen."""
    outcomes = codec_fuzz.run(4000, seed=6)
    assert {"unreadable", "good", "Invalid"} <= set(outcomes), outcomes


def test_no_mutated_document_gets_more_than_a_refusal_out_of_codec_and_matching():
    outcomes = codec_fuzz.run_documents(600, seed=6)
    assert {"unreadable", "good", "Invalid"} <= set(outcomes), outcomes


async def test_no_mutated_message_ends_a_stream_or_learns_more_than_a_documented_code(tmp_path: Path):
    """Over the port, streams and calls."""
    async with serving(tmp_path) as daemon:
        outcomes = await port_fuzz.run(daemon.channel, 300, seed=7)
    assert outcomes["problem"] > 0
    assert outcomes["document OK"] > 0
    assert outcomes["choice"] > 0
