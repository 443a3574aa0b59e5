"""Firefox over WebDriver BiDi: what a journey needs of it, and no more.

Debian's firefox-esr speaks the protocol itself; no driver stands between.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("firefox-esr", "firefox")
KEYS = {"ArrowUp": "\ue013", "ArrowRight": "\ue014", "Home": "\ue011"}
PATIENCE = 60.0  # seconds; a first start compiles ten megabytes of WebAssembly


def firefox() -> str:
    """Return the path of a browser that starts, "" if there is none."""
    given = os.environ.get("WALLCLOCK_FIREFOX", "")
    return given or next(filter(_starts, filter(None, map(shutil.which, NAMES))), "")


def _starts(path: str) -> bool:
    """Tell whether a program starts; Debian's `firefox` is a script for one that may be gone."""
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


@dataclass(slots=True)
class Tab:
    """A tab, and the errors that its pages logged."""

    socket: ClientConnection
    context: str
    errors: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1000))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a command; errors logged meanwhile are kept."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self.socket.recv(timeout=PATIENCE))
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.errors.append(str(said["params"]["text"]))
            if said.get("id") == number:
                assert said["type"] == "success", said
                return dict(said["result"])

    def go(self, address: str) -> None:
        """Open a page and wait until it is loaded."""
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def read(self, expression: str) -> Any:
        """Return the value of an expression, by way of JSON."""
        answer = self.ask(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self.context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer
        return json.loads(answer["result"].get("value", "null"))

    def wait(self, expression: str) -> Any:
        """Return the value of an expression once it is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := self.read(expression):
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}; errors: {self.errors}")

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        each = [KEYS.get(key, key) for key in keys]
        actions = [{"type": kind, "value": key} for key in each for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def click(self, selector: str) -> None:
        """Click in the middle of an element with the mouse."""
        found = json.dumps(selector)
        self.read(f"document.querySelector({found}).scrollIntoView({{block: 'center'}})")
        x, y = self.read(
            f"(b => [b.x + b.width / 2, b.y + b.height / 2])"
            f"(document.querySelector({found}).getBoundingClientRect())"
        )
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        buttons = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        self._act({"type": "pointer", "id": "mouse", "actions": [move, *buttons]})

    def _act(self, source: dict[str, Any]) -> None:
        self.ask("input.performActions", context=self.context, actions=[source])


@contextmanager
def running(path: str) -> Iterator[ClientConnection]:
    """Start Firefox with a profile of its own and yield the connection of a session."""
    with tempfile.TemporaryDirectory() as profile:
        log = Path(profile, "log")
        command = [path, "--headless", "--remote-debugging-port=0", "--profile", profile]
        with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
            try:
                with connect(f"{_address(log)}/session", max_size=None) as socket:
                    opening = {"id": 1, "method": "session.new", "params": {"capabilities": {}}}
                    socket.send(json.dumps(opening))
                    assert json.loads(socket.recv(timeout=PATIENCE))["type"] == "success"
                    yield socket
            finally:
                process.terminate()
                process.wait(timeout=20)


def _address(log: Path) -> str:
    """Return the address that Firefox prints when it listens."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = re.search(r"BiDi listening on (ws://\S+)", log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"Firefox never listened: {log.read_text(errors='replace')}")


def tab(socket: ClientConnection) -> Tab:
    """Return a new tab of 1,280 by 900 pixels that keeps the errors of its pages."""
    opened = Tab(socket=socket, context="")
    opened.ask("session.subscribe", events=["log.entryAdded"])
    opened.context = opened.ask("browsingContext.create", type="tab")["context"]
    window = {"width": 1280, "height": 900}
    opened.ask("browsingContext.setViewport", context=opened.context, viewport=window)
    return opened
