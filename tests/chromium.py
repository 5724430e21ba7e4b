"""A real Chromium for tests, driven over the DevTools protocol: no driver program, no package beyond aiohttp.

    async with chromium(directory) as browser:
        tab = await browser.open_tab(width=1280, height=900, dark=True)
        await tab.go_to("http://127.0.0.1:7411/")
        await tab.click("#theme")
        await tab.picture(Path("page.png"))

A tab remembers every request that it made (`requests`) and all that the console complained of (`complaints`).
"""

import asyncio
import base64
import itertools
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

PATIENCE_S = 60.0  # before something that does not come is called missing; nothing is ever measured
FLAGS = [
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
]
KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "Space": (" ", 32, " "),
}


@asynccontextmanager
async def chromium(directory: Path) -> AsyncIterator["Browser"]:
    """A browser with a new profile in this directory, closed with the block."""
    program = shutil.which("chromium")
    assert program is not None, "the program `chromium` is not installed"
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [program, *FLAGS, *root, f"--user-data-dir={directory}", "about:blank"]
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        port, path = await _endpoint(directory / "DevToolsActivePort", process)
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"ws://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
        ):
            browser = Browser(socket)
            reading = asyncio.create_task(browser.read())
            try:
                yield browser
            finally:
                reading.cancel()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _endpoint(file: Path, process: asyncio.subprocess.Process) -> tuple[str, str]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            assert process.returncode is None, f"chromium ended with status {process.returncode}"
            lines = _lines(file)
            if len(lines) > 1:
                return lines[0], lines[1]
            await asyncio.sleep(0.05)


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


class Browser:
    """The connection: commands out, answers and events in."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tabs: dict[str, Tab] = {}

    async def open_tab(
        self,
        width: int = 1280,
        height: int = 900,
        *,
        dark: bool = False,
        phone: bool = False,
        scale: float = 1,
    ) -> "Tab":
        target = await self.send("Target.createTarget", {"url": "about:blank"})
        attached = await self.send("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        tab = Tab(self, attached["sessionId"])
        self._tabs[attached["sessionId"]] = tab
        for domain in ("Page", "Runtime", "Network", "Log"):
            await tab.send(f"{domain}.enable")
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}
        await tab.send("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        await tab.send("Emulation.setEmulatedMedia", {"features": features})
        return tab

    async def send(self, method: str, parameters: dict[str, Any] | None = None, session: str = "") -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(json.dumps(message))
        async with asyncio.timeout(PATIENCE_S):
            return await self._waiting[number]

    async def read(self) -> None:
        async for frame in self._socket:
            message = json.loads(frame.data)
            if "id" in message:
                future = self._waiting.pop(message["id"])
                if future.cancelled():
                    continue
                if "error" in message:
                    future.set_exception(AssertionError(f"DevTools: {message['error']}"))
                else:
                    future.set_result(message["result"])
            elif message.get("sessionId") in self._tabs:
                self._tabs[message["sessionId"]].hear(message["method"], message["params"])


class Tab:
    """One tab: where it has been, what it complained of, and hands to use it with."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self._loaded = asyncio.Event()
        self.requests: list[str] = []
        self.complaints: list[str] = []

    async def send(self, method: str, parameters: dict[str, Any] | None = None) -> Any:
        return await self._browser.send(method, parameters, self._session)

    def hear(self, event: str, news: dict[str, Any]) -> None:
        match event:
            case "Page.loadEventFired":
                self._loaded.set()
            case "Network.requestWillBeSent":
                self.requests.append(news["request"]["url"])
            case "Runtime.exceptionThrown":
                details = news["exceptionDetails"]
                self.complaints.append(details.get("exception", {}).get("description", details["text"]))
            case "Runtime.consoleAPICalled" if news["type"] in {"error", "warning", "assert"}:
                self.complaints.append(str([argument.get("value") for argument in news["args"]]))
            case "Log.entryAdded" if news["entry"]["level"] in {"error", "warning"}:
                self.complaints.append(f"{news['entry']['text']} {news['entry'].get('url', '')}")

    async def go_to(self, address: str) -> None:
        self._loaded.clear()
        answer = await self.send("Page.navigate", {"url": address})
        if "loaderId" in answer:  # else it is another place of the same document
            async with asyncio.timeout(PATIENCE_S):
                await self._loaded.wait()

    async def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = await self.send(
            "Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True}
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def wait_for(self, script: str) -> Any:
        """The value of an expression, once it is true."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    value = await self.evaluate(script)
                    if value:
                        return value
                    await asyncio.sleep(0.05)
        except TimeoutError as error:
            shown = await self.evaluate("document.body.innerText")
            raise AssertionError(f"{script} never came true\n{shown[:2000]}\n{self.complaints}") from error

    async def text(self, selector: str) -> str:
        """The text of the first element that fits, once there is one."""
        found: str = await self.wait_for(f"document.querySelector({json.dumps(selector)})?.innerText")
        return found

    async def hover(self, selector: str, *, scroll: bool = True) -> tuple[float, float]:
        """Move the mouse to the middle of the first element that fits, or of its first line."""
        chosen = json.dumps(selector)
        await self.send("Page.bringToFront")
        await self.wait_for(f"!!document.querySelector({chosen})")
        x, y = await self.evaluate(
            f"(() => {{ const e = document.querySelector({chosen});"
            f"if ({json.dumps(scroll)}) e.scrollIntoView({{block: 'center'}});"
            "const b = e.getClientRects()[0]; return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        await self.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
        return x, y

    async def click(self, selector: str) -> None:
        x, y = await self.hover(selector)
        where = {"x": x, "y": y, "button": "left", "clickCount": 1}
        await self.send("Input.dispatchMouseEvent", {"type": "mousePressed", **where})
        await self.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **where})

    async def fill(self, selector: str, text: str) -> None:
        """Replace what stands in a field, as by selecting all of it and typing."""
        await self.click(selector)
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        await self.type(text)

    async def type(self, text: str) -> None:
        await self.send("Input.insertText", {"text": text})

    async def press(self, name: str, *, shift: bool = False) -> None:
        key, code, typed = KEYS[name]
        event = {"key": key, "code": name, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        await self.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": typed, **event})
        await self.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    async def picture(self, path: Path, *, whole: bool = True) -> None:
        """A picture of the whole page, or of what can be seen of it."""
        options: dict[str, Any] = {"format": "png", "captureBeyondViewport": whole}
        await self.send("Page.bringToFront")  # a tab in the background is not painted
        if whole:
            size = (await self.send("Page.getLayoutMetrics"))["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        answer = await self.send("Page.captureScreenshot", options)
        _write(path, base64.b64decode(answer["data"]))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
