"""The server of the pages, on this machine alone.

Whoever knows a marker's address is that marker: it holds a random token. The token is part of every path and in no
cookie, because a browser sends a cookie to every port of this machine, and others may listen there. No address of a
page is told to another server (``Referrer-Policy``), and nothing that a page shows may load or run anything
(``Content-Security-Policy``).
"""

import asyncio
import hmac
import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from tornado import web
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from autograder.errors import GradingError
from autograder.gradebook.read import Key
from autograder.marking.answers import ReadClass
from autograder.marking.desk import Desk, Marker
from autograder.marking.groups import AnswerGroup, form
from autograder.marking.pages import file_of, group_address, group_page, look_address, look_page, start_page

ADDRESS = "127.0.0.1"
#: Names of this machine by which its own browser, or one at the end of a tunnel, may ask.
HOSTS = (ADDRESS, "localhost")
MAX_FORM = 4 << 20  # bytes
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; img-src data:; style-src 'self'; script-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _Handler(web.RequestHandler):
    """``desk`` and ``markers`` come from the application; ``marker`` is whoever's token the path has."""

    marker: Marker

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Nothing is done for a page of another site, nor for a name that somebody has let lead to this machine."""
        host = self.request.headers.get("Host", "")
        if urlsplit(f"http://{host}").hostname not in HOSTS:
            raise web.HTTPError(403, "this page is for this machine's own browser: open it as http://127.0.0.1")
        origin = self.request.headers.get("Origin")
        if origin != f"http://{host}" and (origin or self.request.method not in ("GET", "HEAD")):
            raise web.HTTPError(403, "this was sent by the page of another site")
        token = self.path_args[0].encode()
        known = [one for one in self.settings["markers"] if hmac.compare_digest(one.token.encode(), token)]
        if not known:
            raise web.HTTPError(403, "no page has this address: take the one that 'autograder mark' printed")
        self.marker = known[0]

    @property
    def desk(self) -> Desk:
        found: Desk = self.settings["desk"]
        return found

    def exercise(self, read: ReadClass) -> tuple[Key, list[AnswerGroup]]:
        """Key and groups of the exercise that the request names."""
        asked = self.get_argument("x")
        key = next((one for one in read.answers if "/".join(one) == asked), None)
        if key is None:
            raise web.HTTPError(404, "there is no answer to such an exercise")
        return key, self.desk.groups(key, read.answers[key], self.marker)

    def go_on(self, key: Key, after: str = "") -> None:
        """To the next group that waits, here or in a later exercise; else to the start."""
        read = self.desk.read_for(self.marker)
        keys = self.desk.own_first(read.answers, self.marker)
        start = keys.index(key) if key in keys else 0
        for one in [*keys[start:], *keys[:start]]:
            groups = self.desk.groups(one, read.answers[one], self.marker)
            here = self.desk.next_group(one, groups, self.marker, after if one == key else "")
            if here is not None:
                return self.redirect(group_address(one, here.name), status=303)
        self.marker.said += " Nothing else waits for you."
        return self.redirect("./", status=303)

    def write_error(self, status_code: int, **given: Any) -> None:
        error = given.get("exc_info", (None, None, None))[1]
        if isinstance(error, GradingError):
            self.set_status(409)
        known = (isinstance(error, web.HTTPError) and error.log_message) or isinstance(error, GradingError)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        reason = error.log_message if isinstance(error, web.HTTPError) else error
        self.finish(f"{reason if known else 'this could not be done'}\nGo back, and nothing is lost.\n")

    def log_exception(self, *error: Any) -> None:
        if not isinstance(error[1], web.HTTPError | GradingError):
            super().log_exception(*error)


class _Start(_Handler):
    def get(self, _: str) -> None:
        self.desk.claims.take(self.marker.name, ())
        self.write(start_page(self.desk, self.marker, self.desk.read_for(self.marker)))


class _Group(_Handler):
    def get(self, _: str) -> None:
        read = self.desk.read_for(self.marker)
        key, groups = self.exercise(read)
        name, row = self.get_argument("g", ""), self.get_argument("a", "")
        group = next((one for one in groups if one.name == name), None)
        if group is None or (row and row not in {answer.row for answer in group.answers}):
            found = next((one for one in groups if row and row in {answer.row for answer in one.answers}), None)
            found = found or self.desk.next_group(key, groups, self.marker) or groups[0]
            self.redirect(group_address(key, found.name, row if found is not group and row else ""), status=303)
            return
        self.write(group_page(self.desk, self.marker, read, key, group, row))


class _Mark(_Handler):
    def post(self, _: str) -> None:
        key, _groups = self.exercise(self.desk.read_for(self.marker))
        try:
            points = float(self.get_argument("points", "").replace(",", "."))
        except ValueError:
            raise GradingError("expected points, such as 1.5") from None
        comment = self.get_argument("comment", "").replace("\r\n", "\n")
        self.desk.mark(
            self.marker, key, self.get_arguments("member"), points, comment, bool(self.get_argument("a", ""))
        )
        self.go_on(key, self.get_argument("g", ""))


class _Undo(_Handler):
    def post(self, _: str) -> None:
        found = self.desk.undo(self.marker, self.get_argument("a", ""))
        if found is None:
            self.redirect("./", status=303)
            return
        key, row = found
        read = self.desk.read_for(self.marker)
        groups = self.desk.groups(key, read.answers.get(key, ()), self.marker)
        group = next((one for one in groups if row in {answer.row for answer in one.answers}), None)
        self.redirect(group_address(key, group.name) if group else "./", status=303)


class _Regroup(_Handler):
    def post(self, _: str) -> None:
        """Split a group, join it with another, or put its texts back."""
        key, groups = self.exercise(self.desk.read_for(self.marker))
        named = {one.name: one for one in groups}
        group, other = named.get(self.get_argument("g")), self.get_argument("other", "")
        if group is None or (other and other not in named):
            raise GradingError("the groups have changed, since answers came in")
        if self.get_argument("back", ""):
            text = self.desk.put_back(key, group)
        elif other:
            text = self.desk.merge(key, group, named[other])
        else:
            text = self.desk.split(key, group, self.get_arguments("form"))
        key, groups = self.exercise(self.desk.read_for(self.marker))
        made = next((one for one in groups if text in {form(answer) for answer in one.answers}), group)
        self.redirect(group_address(key, made.name), status=303)


class _Points(_Handler):
    def post(self, _: str) -> None:
        key, _groups = self.exercise(self.desk.read_for(self.marker))
        self.desk.give_new_points(self.marker, key, self.get_arguments("member"))
        self.redirect(look_address(key), status=303)


class _Names(_Handler):
    def post(self, _: str) -> None:
        self.desk.show_names()
        self.redirect("./", status=303)


class _Look(_Handler):
    def get(self, _: str) -> None:
        read = self.desk.read_for(self.marker)
        key, groups = self.exercise(read)
        self.desk.claims.take(self.marker.name, ())
        self.write(look_page(self.desk, self.marker, read, key, groups))


class _File(_Handler):
    def get(self, _: str, name: str) -> None:
        self.set_header("Content-Type", _TYPES[name.rpartition(".")[2]])
        self.write(file_of(name))


class _Nothing(_Handler):
    def prepare(self) -> None:
        raise web.HTTPError(404, "there is no such page")


def application(desk: Desk, markers: Sequence[Marker]) -> web.Application:
    token = r"/([\w-]+)/"
    pages: list[Any] = [
        (token, _Start),
        (f"{token}group", _Group),
        (f"{token}mark", _Mark),
        (f"{token}undo", _Undo),
        (f"{token}regroup", _Regroup),
        (f"{token}look", _Look),
        (f"{token}names", _Names),
        (f"{token}points", _Points),
        (rf"{token}(mark\.css|mark\.js|answers\.css)", _File),
    ]
    settings: dict[str, Any] = {"desk": desk, "markers": markers, "default_handler_class": _Nothing}
    return web.Application(pages, log_function=lambda _: None, **settings)  # the log would hold the token


def listen(port: int = 0) -> list[socket.socket]:
    """Raises GradingError where the port is taken. port: 0 for any that is free."""
    try:
        return bind_sockets(port, ADDRESS, family=socket.AF_INET)
    except OSError as error:
        raise GradingError(f"port {port} cannot be listened to: {error.strerror or error}; take another") from error


def address_of(sockets: Sequence[socket.socket], marker: Marker) -> str:
    return f"http://{ADDRESS}:{sockets[0].getsockname()[1]}/{marker.token}/"


async def serve(desk: Desk, markers: Sequence[Marker], sockets: Sequence[socket.socket]) -> None:
    """Until it is cancelled."""
    server = HTTPServer(application(desk, markers), max_body_size=MAX_FORM, max_header_size=1 << 15)
    server.add_sockets(list(sockets))
    try:
        await asyncio.Event().wait()
    finally:
        server.stop()
