"""The pages' server in a thread, and a client that sends whatever a test wants it to."""

import asyncio
import http.client
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlencode

from autograder.marking.desk import Desk, Marker
from autograder.marking.server import address_of, listen, serve


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Site:
    port: int
    markers: Sequence[Marker]
    addresses: Sequence[str]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def send(self, method: str, path: str, body: str = "", **headers: str) -> Reply:
        """``path``: of the server. Headers as they are given, with ``_`` for ``-``."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, {"Host": self.host, **named})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return Reply(reply.status, dict(reply.getheaders()), text)

    def get(self, path: str = "", marker: int = 0) -> Reply:
        return self.send("GET", f"/{self.markers[marker].token}/{path}")

    def follow(self, reply: Reply, marker: int = 0) -> Reply:
        """What a browser shows after a form was sent."""
        while reply.status == 303:
            reply = self.get(reply.headers["Location"].removeprefix("./"), marker)
        return reply

    def post(self, path: str, fields: Sequence[tuple[str, str]], marker: int = 0, **headers: str) -> Reply:
        sent = {"Origin": f"http://{self.host}", "Content-Type": "application/x-www-form-urlencoded"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return self.send("POST", f"/{self.markers[marker].token}/{path}", urlencode(fields), **sent)

    def mark(self, page: Reply, points: str, comment: str = "", marker: int = 0) -> Reply:
        """Send a page's form; returns the page after it."""
        fields = [*hidden(page.text, "mark"), ("points", points), ("comment", comment)]
        return self.follow(self.post("mark", fields, marker), marker)


def place_of(page: Reply, student: str) -> str:
    """Where a group's page leads to a student's answer alone."""
    address, *_ = re.findall(rf'href="(group[^"]+)" data-one>{student}<', page.text)
    return unescape(address)


def hidden(page: str, form: str) -> list[tuple[str, str]]:
    """The hidden fields of one form of a page."""
    (found,) = re.findall(rf'(?s)<form id="{form}".*?</form>', page)
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', found)
    return [(name, unescape(value)) for name, value in fields]


@contextmanager
def running(desk: Desk, *names: str) -> Iterator[Site]:
    markers, sockets = [Marker(name) for name in names or ("lin",)], listen()
    addresses = [address_of(sockets, marker) for marker in markers]
    loop = asyncio.new_event_loop()
    task = loop.create_task(serve(desk, markers, sockets))

    def run() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield Site(sockets[0].getsockname()[1], markers, addresses)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
