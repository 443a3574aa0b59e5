"""A static host for a test: in a thread, gone when its block ends."""

import http.server
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Host(http.server.ThreadingHTTPServer):
    """Takes at once as many connections as a browser opens; a closed page is no error."""

    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def hosting(handler: Callable[..., Any]) -> Iterator[int]:
    """Serve on 127.0.0.1; yield the port."""
    with Host(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
