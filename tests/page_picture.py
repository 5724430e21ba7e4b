"""Makes the README's picture of the page, from a real run: `python -m tests.page_picture docs/images/page.png`.

A daemon of its own is started, real engine outputs are played through it over a real client stream, each followed
by its true text, and a real browser takes the picture.
"""

import asyncio
import sys
import tempfile
from itertools import islice
from pathlib import Path

from galloon.clients.api.blocking import BlockingClient
from galloon.clients.formats.utterances import read_utterances
from galloon.clients.samples import ocr_sample
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from tests.chromium import Tab, chromium
from tests.daemon_process import Daemon, running_daemon

ROUNDS = 611  # the newest utterance is then one that not everybody read alike
WIDTH, HEIGHT = 1200, 1120
# Of the newest utterance, the token with the most alternatives, in the middle of the line if there are several.
MOST_CONTESTED = """(() => {
  const tokens = [...document.querySelectorAll(".utterance:first-child .token.contested:not(.null)")];
  const rivals = (token) => token.getAttribute("aria-label").split("; ").length;
  const off = (token) => Math.abs(token.offsetLeft - 400) / 10_000;
  tokens.sort((a, b) => rivals(b) - off(b) - (rivals(a) - off(a)));
  tokens[0].id = "shown";
})()"""


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        with running_daemon(Path(scratch) / "daemon") as daemon:
            play(daemon)
            asyncio.run(take(daemon, Path(scratch) / "profile", Path(sys.argv[1])))


def play(daemon: Daemon) -> None:
    """The first lines of the bundled sample, one after the other."""
    utterances = list(islice(read_utterances(ocr_sample()), ROUNDS))
    spec = CombinerSpec(engines=tuple(output.name for output in utterances[0].outputs), decide="best")
    with BlockingClient(daemon.address) as client, client.stream("archive/scans", spec) as stream:
        for utterance in utterances:
            choice = stream.choose(utterance)
            stream.learn(choice.id, TrueText(utterance.target or ""))


async def take(daemon: Daemon, profile: Path, picture: Path) -> None:
    async with chromium(profile) as browser:
        tab = await browser.open_tab(WIDTH, HEIGHT)
        await tab.go_to(f"http://{daemon.http_address}/")
        await until_counted(tab)
        await tab.go_to(f"http://{daemon.http_address}/#/learner/archive%2Fscans")
        await tab.wait_for("document.querySelectorAll('.utterance').length > 0")
        await tab.evaluate(MOST_CONTESTED)
        await tab.hover("#shown", scroll=False)
        await tab.picture(picture, whole=False)


async def until_counted(tab: Tab) -> None:
    """Errors are counted a little later than they are made: wait until there are no more of them."""
    counted, before = 0, -1
    while counted != before:
        await asyncio.sleep(2)
        asked = (
            "fetch('/api/learners').then(a => a.json()).then(a => a.learners[0].rates.galloon?.words ?? 0)"
        )
        before, counted = counted, await tab.evaluate(asked)


if __name__ == "__main__":
    main()
