"""Serves a page to this machine alone: two addresses, both behind a random token, and nothing else."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gpcurves._version import __version__

LOOPBACK = "127.0.0.1"
_PATIENCE = 10.0  # seconds that a client may take to say what it wants
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageServer(ThreadingHTTPServer):
    """A few files by name, each with its type, at http://127.0.0.1:PORT/TOKEN/NAME; the page is the one without a name."""

    daemon_threads = True  # a client that waits must not keep the command from ending
    request_queue_size = 16

    def __init__(self, contents: Mapping[str, tuple[str, bytes]], port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self.contents = dict(contents)
        super().__init__((LOOPBACK, port), _Answer)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"

    def find(self, path: str, host: str) -> tuple[str, bytes] | None:
        """Return the type and the content at a path, or None without the token or for another host name.

        A page of another site that lets its own name point here (DNS rebinding) sends that name.
        """
        _, _, rest = path.partition("?")[0].partition("/")
        token, slash, name = rest.partition("/")
        known = secrets.compare_digest(token.encode(), self.token.encode())
        ours = host in (f"{LOOPBACK}:{self.server_port}", f"localhost:{self.server_port}")
        return self.contents.get(name) if known and slash and ours else None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent about clients that leave in the middle of an answer."""


class _Answer(BaseHTTPRequestHandler):
    """Answers GET and HEAD; requests have no bodies, and lines and headers are limited by the standard library."""

    server: PageServer
    timeout = _PATIENCE
    server_version, sys_version = f"gpcurves/{__version__}", ""

    def do_GET(self) -> None:
        found = self.server.find(self.path, self.headers.get("Host", ""))
        kind, content = found or ("text/plain; charset=utf-8", b"There is nothing here.\n")
        self.send_response(404 if found is None else 200)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815  (the standard library's name)

    def log_message(self, *args: Any) -> None:
        """Keep the token out of what is printed."""
