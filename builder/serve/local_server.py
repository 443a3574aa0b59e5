"""Local HTTP server: pages from memory, and server-sent events for live reload."""

import html
import http.server
import json
import mimetypes
import queue
import threading
from collections.abc import Mapping

TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
EVENTS, SCRIPT = "/_events", "/_reload.js"
RETRY_SECONDS = 2  # between reloads of a page that waits for the first build


class ServedSite:
    """The served output, and the open pages that listen for reload events."""

    def __init__(self, script: bytes) -> None:
        self.script = script
        self.output: Mapping[str, bytes] = {}
        self.problems: list[str] = []
        self.listeners: set[queue.Queue[str]] = set()
        self.lock = threading.Lock()

    def publish(self, output: Mapping[str, bytes], changed: list[str]) -> None:
        """Serve a new output and notify open pages of the changed files."""
        with self.lock:
            self.output, self.problems = output, []
        self._tell({"changed": changed})

    def show_problems(self, problems: list[str]) -> None:
        """Keep the served output and show problems in the open pages."""
        with self.lock:
            self.problems = problems
        self._tell({"problems": problems})

    def find(self, url: str) -> tuple[int, str, bytes]:
        """Return (status, content type, content) for a URL path."""
        name = url.partition("?")[0].lstrip("/")
        if url == SCRIPT:
            return 200, "text/javascript", self.script
        if not name or name.endswith("/"):
            name += "index.html"
        output = self.output
        if not output:
            return 503, "text/html; charset=utf-8", waiting_page(self.problems)
        if name not in output:
            return 404, "text/html; charset=utf-8", output.get("404.html", b"")
        suffix = name[name.rfind(".") :]
        kind = TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        is_text = kind.startswith("text/") and "charset" not in kind
        return 200, kind + ("; charset=utf-8" if is_text else ""), output[name]

    def is_folder(self, url: str) -> bool:
        """Return whether a URL without its trailing slash is a page."""
        return f"{url.strip('/')}/index.html" in self.output

    def _tell(self, event: dict[str, list[str]]) -> None:
        for listener in list(self.listeners):
            listener.put(json.dumps(event))


def waiting_page(problems: list[str]) -> bytes:
    """Return the page shown until the first successful build: progress or problems.

    It asks again by itself, since a build can end between two of its requests.
    """
    message = "Building the pages. This one opens by itself when they are there."
    if problems:
        message = "\n".join(("Nothing could be built:", *problems, "This page waits for a change."))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta http-equiv="refresh" content="{RETRY_SECONDS}">'
        '<meta name="color-scheme" content="light dark"><title>Building</title>'
        f'<pre style="white-space:pre-wrap" role="status">{html.escape(message)}</pre>'
    ).encode()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    host: ServedSite


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == EVENTS:
            self._events()
        elif not path.endswith("/") and self.server.host.is_folder(path):
            self.send_response(301)
            self.send_header("Location", path + "/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._send(*self.server.host.find(path))

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-cache")
        if status == 503:
            self.send_header("Retry-After", str(RETRY_SECONDS))
        self.end_headers()
        self.wfile.write(content)

    def _events(self) -> None:
        host, listener = self.server.host, queue.Queue[str]()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        host.listeners.add(listener)
        if host.problems:
            listener.put(json.dumps({"problems": host.problems}))
        try:
            while True:
                try:
                    text = f"data: {listener.get(timeout=15)}\n\n"
                except queue.Empty:
                    text = ": still here\n\n"  # detects closed pages
                self.wfile.write(text.encode())
                self.wfile.flush()
        except OSError:
            pass
        finally:
            host.listeners.discard(listener)

    def log_message(self, format: str, *args: object) -> None:
        """Do not log requests."""


def start(host: ServedSite, port: int) -> _Server:
    """Start serving the site on a port of 127.0.0.1, in a thread.

    Raises:
        OSError: the port cannot be used.
    """
    server = _Server(("127.0.0.1", port), _Handler)
    server.host = host
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
