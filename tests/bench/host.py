"""A static host as guides meet it: gzip for text and wasm, an ETag, ten minutes of caching."""

import gzip
import hashlib
import http.server
import mimetypes
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}
PACKED = ("text/", "application/json", "application/wasm", "image/svg+xml")


class Response:
    """One file as it goes over the wire, compressed once."""

    def __init__(self, path: Path) -> None:
        body = path.read_bytes()
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
        self.kind = kind or "application/octet-stream"
        self.packed = self.kind.startswith(PACKED)
        self.body = gzip.compress(body, 6, mtime=0) if self.packed else body
        self.etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'


response = cache(Response)


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the first of the server's folders that has the file; nothing is logged."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.server.find(self.path.split("?")[0])
        if path is None:
            self.send_error(404)
            return
        found = response(path)
        fresh = self.headers.get("If-None-Match") == found.etag
        self.send_response(304 if fresh else 200)
        self.send_header("ETag", found.etag)
        self.send_header("Cache-Control", "max-age=600")
        if not fresh:
            self.send_header("Content-Type", found.kind)
            self.send_header("Content-Length", str(len(found.body)))
            if found.packed:
                self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if not fresh:
            with suppress(ConnectionError):  # the page was closed meanwhile
                self.wfile.write(found.body)
                self.server.served[self.path] = len(found.body)

    def log_message(self, *args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """Holds the folders it serves, as URL prefix -> folder, and path -> bytes of what it served."""

    daemon_threads = True
    folders: Mapping[str, Path]
    served: dict[str, int]

    def find(self, url: str) -> Path | None:
        for prefix, folder in self.folders.items():
            path = folder / url.removeprefix(prefix)
            if url.startswith(prefix) and path.is_dir() and url.endswith("/"):
                path /= "index.html"
            if url.startswith(prefix) and path.is_file():
                return path
        return None


@contextmanager
def serve(folders: Mapping[str, Path], served: dict[str, int] | None = None) -> Iterator[int]:
    """Serve `folders` (URL prefix such as "/plain/" -> folder) on 127.0.0.1; yield the port.

    `served` is filled with the compressed size of every body sent, by path.
    """
    server = Server(("127.0.0.1", 0), Handler)
    server.folders = folders
    server.served = {} if served is None else served
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
