"""A hub on this machine: one file under the hub's addresses, with the faults that a network has."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHUNK = 1 << 20


@dataclass
class StandIn:
    """What the server holds and how it misbehaves."""

    content: Path
    path: str  # below the server's root: repository/resolve/revision/file
    break_after: list[int] = field(default_factory=list)  # bytes after which each of the next answers breaks off
    ranges: list[str] = field(default_factory=list)  # the Range header of every request so far
    asked: int = 0  # how often somebody asked whether the file is there
    knows_ranges: bool = True
    address: str = ""


@contextmanager
def serve(stand_in: StandIn) -> Iterator[StandIn]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            stand_in.ranges.append(self.headers.get("Range", ""))
            if self.path != f"/{stand_in.path}":
                self.send_error(404)
                return
            size = stand_in.content.stat().st_size
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-")) if stand_in.knows_ranges else 0
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.send_header("Content-Length", str(size - start))
            self.end_headers()
            end = start + stand_in.break_after.pop(0) if stand_in.break_after else size
            # A client that has seen enough in the headers hangs up, which is no error.
            with stand_in.content.open("rb") as stream, suppress(ConnectionError):
                stream.seek(start)
                for position in range(start, min(end, size), CHUNK):
                    self.wfile.write(stream.read(min(CHUNK, min(end, size) - position)))
            self.close_connection = end < size

        def do_HEAD(self) -> None:
            stand_in.asked += 1
            self.send_response(200 if self.path == f"/{stand_in.path}" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    stand_in.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
