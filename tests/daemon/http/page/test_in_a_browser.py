"""The page in a real Chromium: by mouse and by keyboard, on a desk and on a phone, light and dark.

Every test ends by asking that the console was silent and that nothing was loaded from anywhere else. Pictures of
what was seen are left in artefacts/page.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import pytest

from galloon.clients.api.client import Client
from galloon.clients.formats.utterances import read_utterances
from galloon.clients.samples import ocr_sample
from galloon.daemon.rpc.auth import hash_token
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import ExpertOutput, Utterance, Word
from tests.chromium import Browser, Tab, chromium
from tests.daemon.http.page.visitor import until
from tests.daemon.serving import Daemon, serving
from tests.system import needs

pytestmark = needs("chromium")
PICTURES = Path(__file__).parents[4] / "artefacts" / "page"
LEARNER = f"#/learner/{quote('ocr/lines', safe='')}"
LIVE = "document.querySelector('#link-state').dataset.state === 'live'"
VIEWS = {"learners": "#/", "learner": LEARNER, "try": "#/try", "store": "#/store"}


async def play_sample(daemon: Daemon, first: int, last: int, name: str = "ocr/lines") -> None:
    """Real engine outputs over a real client stream, each with its true text."""
    utterances = list(islice(read_utterances(ocr_sample()), first, last))
    engines = tuple(output.name for output in utterances[0].outputs)
    spec = CombinerSpec(engines=engines, algorithm="expanded_hedge", derived=("vote",), decide="best")
    async with Client(daemon.app.address) as client, client.stream(name, spec) as stream:
        for utterance in utterances:
            choice = await stream.choose(utterance)
            await stream.learn(choice.id, TrueText(utterance.target or ""))


@asynccontextmanager
async def world(
    tmp_path: Path, rounds: int = 20, **settings: object
) -> AsyncIterator[tuple[Daemon, Browser]]:
    async with serving(tmp_path / "data", **settings) as daemon:
        if rounds:
            await play_sample(daemon, 0, rounds)
        async with chromium(tmp_path / "profile") as browser:
            yield daemon, browser


async def visit(tab: Tab, daemon: Daemon, view: str = "#/") -> None:
    await tab.send("Page.bringToFront")  # a tab in the background listens to nothing
    await tab.go_to("about:blank")
    await tab.go_to(f"http://{daemon.app.http_address}/{view}")
    await tab.wait_for(f"!!document.querySelector('h1') && {LIVE}")


def check_silent(tab: Tab, daemon: Daemon) -> None:
    """No complaints, and no request to another host."""
    assert tab.complaints == []
    own = f"http://{daemon.app.http_address}/"
    assert {url for url in tab.requests if not url.startswith((own, "about:"))} == set()


async def test_the_list_leads_to_a_learner_with_its_curves(tmp_path):
    async with world(tmp_path) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon)
        assert "20 lessons" in await tab.text(".tile")
        await tab.picture(PICTURES / "learners.png")
        await tab.click(".tile a")
        await tab.wait_for("document.querySelector('h1').innerText === 'ocr/lines'")
        assert await tab.wait_for("document.querySelectorAll('#rates .line').length") == 9
        assert await tab.wait_for("document.querySelectorAll('#regret .line').length") == 2
        assert await tab.wait_for("document.querySelectorAll('#weights .heat').length") == 8 * 8
        assert "galloon" in await tab.text("#rates .bars tr.strong")
        await tab.hover("#rates .chart")
        assert "galloon" in await tab.text("#rates .readout")
        wer = await tab.text("#rates .bars")
        await tab.click("#rates .switch button:last-child")
        assert await tab.text("#rates .bars") != wer
        check_silent(tab, daemon)


async def test_a_token_shows_what_else_was_on_offer(tmp_path):
    async with world(tmp_path) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon, LEARNER)
        label = await tab.wait_for("document.querySelector('.token.contested')?.getAttribute('aria-label')")
        assert "Instead of:" in label
        assert await tab.evaluate("document.querySelector('#popover').hidden")
        await tab.hover(".token.contested")
        await tab.wait_for("!document.querySelector('#popover').hidden")
        rows = await tab.evaluate("document.querySelectorAll('#popover tr').length")
        assert rows == label.count(";") + 2
        await tab.picture(PICTURES / "popover.png", whole=False)
        await tab.hover("h1")
        await tab.wait_for("document.querySelector('#popover').hidden")
        check_silent(tab, daemon)


async def test_slots_and_automata_are_drawn(tmp_path):
    async with world(tmp_path) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon, LEARNER)
        await tab.click(".utterance .about button")
        label = await tab.wait_for("document.querySelector('svg.network')?.getAttribute('aria-label')")
        assert label.startswith("Slot network of")
        drawn = await tab.evaluate("document.querySelectorAll('svg.network .node').length")
        assert drawn == int(label.split()[3]) + 1
        assert await tab.evaluate("document.querySelectorAll('svg.network .arc').length") >= drawn - 1
        await tab.click("#automata summary")
        await tab.wait_for("document.querySelectorAll('svg.automaton').length === 2")
        assert await tab.evaluate("document.querySelectorAll('svg.automaton .arc').length") == 2 * 64
        await tab.picture(PICTURES / "drawings.png")
        check_silent(tab, daemon)


async def test_a_person_tries_texts_and_teaches_the_right_one(tmp_path):
    async with world(tmp_path, rounds=0) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon)
        assert "No learners yet" in await tab.text("main")
        await tab.click("nav a[data-view=try]")
        await tab.fill("#text-1", "the whale is a fish")
        await tab.click("#text-2")
        await tab.type("the while is a mammal")
        await tab.click("#try-form button.main")
        await tab.wait_for("document.querySelectorAll('#try-result .token').length === 5")
        await tab.fill("#right-text", "the whale is a mammal")
        await tab.click(".teach button")
        assert "Learned, lesson 1" in await tab.text(".lesson")
        await tab.picture(PICTURES / "try.png")
        host = daemon.app.registry.find("try/engine-a.engine-b")
        assert (host.rounds.lessons, host.rounds.started) == (1, 1)
        await tab.click(".lesson a")
        await tab.wait_for("document.querySelector('h1').innerText === 'try/engine-a.engine-b'")
        assert "the whale is a mammal" in await tab.text(".truth span")
        check_silent(tab, daemon)


async def test_what_is_wrong_is_said_beside_the_form(tmp_path):
    async with world(tmp_path, rounds=0) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon, "#/try")
        await tab.fill("#engine-2", "engine A")
        await tab.click("#try-form button.main")
        assert "name of its own" in await tab.text("#try-form .warning")
        assert len(tab.complaints) == 1  # the browser itself notes the status 400
        assert "400" in tab.complaints[0]


async def test_light_and_dark_follow_the_system_and_the_button(tmp_path):
    ground = "getComputedStyle(document.body).backgroundColor"
    async with world(tmp_path, rounds=0) as (daemon, browser):
        light, dark = await browser.open_tab(), await browser.open_tab(dark=True)
        await visit(light, daemon)
        await visit(dark, daemon)
        colours = [await light.evaluate(ground), await dark.evaluate(ground)]
        assert colours[0] != colours[1]
        await dark.click("#theme")  # from the system's to light
        assert await dark.evaluate(ground) == colours[0]
        await dark.click("#theme")
        assert await dark.evaluate(ground) == colours[1]
        await visit(light, daemon, "#/store")  # the choice is remembered
        assert await light.evaluate(ground) == colours[1]
        assert (
            await light.evaluate("document.querySelector('#theme').getAttribute('aria-label')")
            == "Theme: dark"
        )
        check_silent(light, daemon)
        check_silent(dark, daemon)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_nothing_sticks_out_of_a_phone(tmp_path, dark):
    async with world(tmp_path) as (daemon, browser):
        phone = await browser.open_tab(360, 740, dark=dark, phone=True, scale=2)
        desktop = await browser.open_tab(1280, 900, dark=dark)
        for name, view in VIEWS.items():
            shade = "dark" if dark else "light"
            for tab, size in ((phone, "phone"), (desktop, "desktop")):
                await visit(tab, daemon, view)
                if name == "learner":
                    await tab.click(".utterance .about button")
                if name == "try":
                    await tab.click("#try-form .actions button:last-child")
                    await tab.click("#try-form button.main")
                    await tab.wait_for("!!document.querySelector('#right-text')")
                fits = "document.documentElement.scrollWidth <= window.innerWidth"
                assert await tab.evaluate(fits), (name, size)
                await tab.picture(PICTURES / f"{name}-{size}-{shade}.png")
        check_silent(phone, daemon)
        check_silent(desktop, daemon)


async def test_the_keyboard_is_enough(tmp_path):
    focused = "document.activeElement"
    async with world(tmp_path, rounds=0) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon)

        async def tab_to(what: str) -> None:
            for _ in range(60):
                await tab.press("Tab")
                if await tab.evaluate(f"!!{focused}?.matches({what!r})"):
                    outline = await tab.evaluate(f"getComputedStyle({focused}).outlineStyle")
                    assert outline != "none", f"{what} has no focus ring"
                    return
            raise AssertionError(f"Tab never came to {what}")

        await tab.press("Tab")
        assert await tab.evaluate(f"{focused}.className") == "skip"
        await tab_to("nav a[data-view=try]")
        await tab.press("Enter")
        await tab.wait_for("document.activeElement.id === 'main' && !!document.querySelector('#try-form')")
        await tab_to("#text-1")
        await tab.type("one two three")
        await tab_to("#text-2")
        await tab.type("one too free")
        await tab_to("#try-form button.main")
        await tab.press("Enter")
        await tab.wait_for("!!document.querySelector('#right-text')")
        await tab_to("#try-result .token.contested")
        await tab.wait_for("!document.querySelector('#popover').hidden")
        first = await tab.evaluate(f"{focused}.innerText")
        await tab.press("ArrowRight")
        assert await tab.evaluate(f"{focused}.innerText") != first
        assert await tab.evaluate("!document.querySelector('#popover').hidden")
        await tab.press("Escape")
        assert await tab.evaluate("document.querySelector('#popover').hidden")
        await tab_to("#right-text")
        await tab_to(".teach button")
        await tab.press("Enter")
        assert "Learned" in await tab.text(".lesson")
        assert "Learned" in await tab.text("#announcer")
        check_silent(tab, daemon)


async def test_everything_has_a_name_for_those_who_hear_the_page(tmp_path):
    """Controls have names, pictures have descriptions, views have one first heading and landmarks."""
    async with world(tmp_path) as (daemon, browser):
        tab = await browser.open_tab()
        for view in VIEWS.values():
            await visit(tab, daemon, view)
            tree = (await tab.send("Accessibility.getFullAXTree"))["nodes"]
            roles = [node["role"]["value"] for node in tree if not node["ignored"]]
            for landmark in ("banner", "navigation", "main", "contentinfo"):
                assert roles.count(landmark) == 1, (view, landmark)
            named = ("button", "link", "textbox", "combobox", "image", "region", "heading", "searchbox")
            nameless = [
                node
                for node in tree
                if not node["ignored"]
                and node["role"]["value"] in named
                and not node.get("name", {}).get("value")
            ]
            assert nameless == [], view
            assert await tab.evaluate("document.querySelectorAll('h1').length") == 1
        check_silent(tab, daemon)


async def test_new_rounds_show_up_by_themselves(tmp_path):
    async with world(tmp_path) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon, LEARNER)
        await tab.wait_for("document.querySelectorAll('.utterance').length === 12")
        before = await tab.text(".utterance .id")
        await play_sample(daemon, 20, 30)
        await tab.wait_for("document.querySelector('.figures').innerText.includes('30 rounds')")
        await tab.wait_for(f"document.querySelector('.utterance .id').innerText !== {before!r}")
        check_silent(tab, daemon)


async def test_a_list_that_is_read_holds_still(tmp_path):
    async with world(tmp_path) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon, LEARNER)
        await tab.hover(".utterance .id")
        before = await tab.text(".utterance .id")
        await play_sample(daemon, 20, 22)
        await tab.wait_for("document.querySelector('#latest').innerText.includes('Held while you read')")
        assert await tab.text(".utterance .id") == before
        await tab.hover("h1")
        await tab.wait_for(f"document.querySelector('.utterance .id').innerText !== {before!r}")


async def test_markup_from_clients_stays_text(tmp_path):
    nasty = '<img/src="x"/onerror="document.title=1">'
    async with world(tmp_path, rounds=0) as (daemon, browser):
        spec = CombinerSpec(engines=(nasty, "b"), algorithm="expanded_hedge")
        async with Client(daemon.app.address) as client, client.stream("nasty", spec) as stream:
            outputs = (ExpertOutput(nasty, (Word(nasty), Word("x"))), ExpertOutput("b", (Word("&amp;"),)))
            choice = await stream.choose(Utterance(nasty, outputs))
            await stream.learn(choice.id, TrueText(nasty))
        tab = await browser.open_tab()
        for view in ("#/", "#/learner/nasty", "#/try", "#/store"):
            await visit(tab, daemon, view)
            if view.endswith("nasty"):
                await tab.click(".utterance .about button")
                await tab.hover(".token.contested")
                assert nasty in await tab.text("#popover")
            assert await tab.evaluate("document.querySelectorAll('img').length") == 1  # the emblem
        check_silent(tab, daemon)


async def test_a_token_is_asked_for_and_forgotten(tmp_path):
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(
        f'[[principal]]\nname = "ann"\ntoken_sha256 = "{hash_token("s3").hex()}"\nlearners = [""]\n'
    )
    async with world(tmp_path, rounds=0, auth__tokens=tokens) as (daemon, browser):
        tab = await browser.open_tab()
        await tab.go_to(f"http://{daemon.app.http_address}/")
        assert "asks for a token" in await tab.text("h1")
        await tab.fill("#token", "wrong")
        await tab.press("Enter")
        assert "not known" in await tab.text(".warning")
        await tab.picture(PICTURES / "login.png", whole=False)
        await tab.fill("#token", "s3")
        await tab.press("Enter")
        await tab.wait_for(LIVE)
        assert "ann" in await tab.text("#about")
        assert await tab.evaluate("location.href.includes('s3') || document.cookie !== ''") is False
        await tab.click("#log-out")
        assert "asks for a token" in await tab.text("h1")
        assert await tab.evaluate("sessionStorage.length") == 0
        assert all("401" in complaint for complaint in tab.complaints)  # the browser notes each refusal


async def test_a_tab_that_nobody_looks_at_holds_no_connection(tmp_path):
    async with world(tmp_path, rounds=0) as (daemon, browser):
        tab = await browser.open_tab()
        await visit(tab, daemon)
        live = daemon.app.page._live
        assert live.listeners == 1
        await tab.evaluate("window.dispatchEvent(new Event('pagehide'))")
        assert await tab.text("#link-word") == "paused"
        await until(lambda: live.listeners == 0)
        await tab.evaluate("window.dispatchEvent(new Event('pageshow'))")
        await tab.wait_for(LIVE)
        for _ in range(8):  # more pages than a browser has connections for one host
            await visit(tab, daemon, "#/store")
        check_silent(tab, daemon)


async def test_a_daemon_that_comes_back_is_found_again(tmp_path):
    async with serving(tmp_path / "data") as daemon, chromium(tmp_path / "profile") as browser:
        tab = await browser.open_tab()
        await visit(tab, daemon)
        daemon.app.page._live.end()  # as at the end of a daemon's life
        await tab.wait_for("document.querySelector('#link-word').innerText === 'reconnecting'")
        daemon.app.page._live._end.clear()
        await tab.wait_for(LIVE)
