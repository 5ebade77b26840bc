"""Drives headless Chromium through its debugging pipe: no driver, no port and no network."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-component-update",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # names are not resolved: the cable is pulled
    "--remote-debugging-pipe",
)
_START = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 50) for each in sys.argv[1:3]]
for number, pipe in zip((3, 4), pipes):
    os.dup2(pipe, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Starts a program with the two pipes as the descriptors 3 and 4, where Chromium looks for them."""
_PATIENCE = 90.0


class Browser:
    """One page in a browser of its own."""

    def __init__(self, folder: str) -> None:
        inbox, self._write = os.pipe()
        self._read, outbox = os.pipe()
        command = [sys.executable, "-c", _START, str(inbox), str(outbox), "chromium", *_ARGUMENTS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(inbox, outbox),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(inbox)
        os.close(outbox)
        self._numbers, self._buffer, self.session = itertools.count(1), b"", ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))[0]
            assert ready, "Chromium does not answer"
            self._buffer += os.read(self._read, 1 << 20)
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def open(self, address: str) -> Self:
        """Open a page anew, also if only the part after # differs."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && document.querySelector('main') !== null")
        return self

    def run(self, code: str) -> Any:
        """Evaluate JavaScript and return its value; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 60.0) -> None:
        """Wait until JavaScript gives something true."""
        deadline = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < deadline, f"still not: {condition}"
            time.sleep(0.05)

    def frame(self) -> None:
        """Wait until what was changed has been drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        texts = {"Enter": "\r", " ": " "}
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        for key in keys:
            extra = {"text": texts[key]} if key in texts else {}
            common = {"key": key, "windowsVirtualKeyCode": codes[key], "code": "Space" if key == " " else key}
            self.call("Input.dispatchKeyEvent", type="keyDown" if extra else "rawKeyDown", **common, **extra)
            self.call("Input.dispatchKeyEvent", type="keyUp", **common)
        self.frame()

    def resize(self, width: int, height: int) -> None:
        """Show the page on a screen of another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.frame()

    def screenshot(self) -> bytes:
        """Return what is on the screen as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def choose_file(self, selector: str, path: Path) -> None:
        """Choose a file as a person would."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)

    def complaints(self) -> list[str]:
        """Return what was written to the console as an error, and exceptions that nobody caught."""
        found = []
        for event in self.events:
            details = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(details["exceptionDetails"]))
            elif event.get("method") == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(details["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning"):
                found.append(str(details["args"]))
        return found

    def requests(self) -> list[str]:
        """Return the addresses that were asked for, but those of data inside the page."""
        sent = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        addresses = [each["request"]["url"] for each in sent]
        return [each for each in addresses if not each.startswith(("data:", "blob:", "about:"))]

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)  # the end of the pipe ends Chromium
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._read)


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start a browser and end it afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            yield browser
        finally:
            browser.close()
