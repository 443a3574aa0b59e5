"""A static host for a test: in a thread, gone when its block ends."""

import contextlib
import http.server
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Host(http.server.ThreadingHTTPServer):
    """Takes at once as many connections as a browser opens; a closed page is no error."""

    request_queue_size = 128

    def __init__(self, *args: Any) -> None:
        self.taken: list[socket.socket] = []
        super().__init__(*args)

    def get_request(self) -> Any:
        taken, address = super().get_request()
        self.taken.append(taken)
        return taken, address

    def hang_up(self) -> None:
        """Close what a browser opened in advance as well, which a thread would still answer."""
        for one in self.taken:
            with contextlib.suppress(OSError):  # closed already
                one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def hosting(handler: Callable[..., Any], *, hangs_up: bool = False) -> Iterator[int]:
    """Serve on 127.0.0.1; yield the port. What `hangs_up` answers nobody after its block."""
    with Host(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
            if hangs_up:
                server.hang_up()
