"""The marking page: no answer runs or loads anything, and nobody but the marker's own page reaches it."""

import contextlib
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.marking.desk import Desk
from autograder.model.course import Course
from tests.feedback.injections import HACK, OUTPUTS, TEXTS
from tests.marking.classroom import ASSIGNMENT, hand_in, held, make_course
from tests.marking.site import Reply, Site, hidden, running

pytestmark = pytest.mark.xdist_group("attacks")
SCALE = "group?x=1_attention%2Fscale"
#: Whatever a page of ours may hold, and an answer may not.
OURS = {
    "form", "button", "input", "textarea", "label", "script", "link", "meta", "style", "base", "iframe", "svg", "nav",
}  # fmt: skip
MARKUP = {
    "the end of our form": "</textarea></form></article><form action='//evil.example'><button>Store</button></form>",
    "fields of our form": "<input name=points value=2 form=mark><button form=mark>go</button><select form=mark>",
    "frames and refreshes": "<iframe src=//evil.example></iframe><meta http-equiv=refresh content=0><base href=//a>",
    "styles": "<style>*{display:none}</style><link rel=stylesheet href=//a><p style='position:fixed'>x</p>",
    "a template": "{{ 7 * 7 }}{% raw %}{{ marker }}",
    "what our script looks for": "<b id=mark data-give=2 data-key=0 data-end data-answer data-one>x</b>",
    "pictures from elsewhere": "![a](http://127.0.0.1:1/a.png) <img src=//evil.example/a.png>",
}  # fmt: skip


class Tags(HTMLParser):
    """The tags and attributes of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Forty-odd hostile answers, a student each; two students whose names are markup."""
    course = make_course(tmp_path_factory.mktemp("marking") / "course")
    for number, text in enumerate([*MARKUP.values(), *TEXTS.values()]):
        hand_in(course, f"text{number}", {"scale": text, "padding": "Pads."})
    for number, output in enumerate(OUTPUTS.values()):
        hand_in(course, f"output{number}", {"figure": f"plt.plot({number})"}, outputs=(output,))
    with Gradebook(course.db_url) as gradebook:
        gradebook.update_or_create_student("text0", last_name=f"<img src=x onerror={HACK}>", first_name="'\"><b>")
    return course


@pytest.fixture(scope="module")
def site(course: Course) -> Iterator[Site]:
    with running(Desk(course, ASSIGNMENT), "lin", "sam") as site:
        yield site


def pages(site: Site, exercise: str) -> list[str]:
    """Every group of an exercise."""
    first = site.follow(site.get(f"group?x=1_attention%2F{exercise}")).text
    addresses = re.findall(r'<li><a href="(group[^"]+)"(?: aria-current="page")?>', first.partition("</nav>")[0])
    return [site.get(unescape(address)).text for address in addresses]


@pytest.mark.parametrize(("exercise", "at_least"), [("scale", 15), ("figure", 20)])
def test_nothing_of_an_answer_is_more_than_text_and_plain_structure(site: Site, exercise: str, at_least: int) -> None:
    body_of = re.compile(r'(?s)<div class="body">(.*?)</div>\s*(?:<label>|<details><summary>Whose|<ul class="whose">)')
    bodies = [body for page in pages(site, exercise) for body in body_of.findall(page)]
    assert len(bodies) >= at_least
    for body in bodies:
        for tag, attributes in Tags(body).found:
            assert tag not in OURS, body
            assert not any(name.startswith(("on", "data-", "form", "style", "srcdoc")) for name in attributes if not (
                name == "style" and re.fullmatch(r"text-align: ?\w+;?", attributes[name] or ""))), body  # fmt: skip
            assert not (attributes.get("src") or "data:").startswith(("http", "//", "javascript")), body
            assert not (attributes.get("href") or "").lower().startswith(("javascript", "data")), body
            assert (attributes.get("id") or "cell-").startswith("cell-"), body


def test_a_name_or_a_comment_that_is_markup_is_text(course: Course, site: Site) -> None:
    page = site.mark(site.follow(site.get("group?x=1_attention%2Fpadding")), "1", f"</textarea><script>{HACK}</script>")
    page = site.get("group?x=1_attention%2Fpadding&g=" + dict(hidden(page.text, "split"))["g"])
    whole = page.text + "".join(pages(site, "padding"))
    assert "&lt;img src=x onerror=" in whole and "<img src=x" not in whole
    assert f"<script>{HACK}" not in whole


def test_every_reply_forbids_scripts_frames_and_addresses_of_others(site: Site) -> None:
    replies = [site.get(path) for path in ("", SCALE, "mark.js", "nothing")]
    replies[1] = site.follow(replies[1])
    replies.append(site.send("GET", "/"))
    for reply in replies:
        policy = reply.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert "form-action 'self'" in policy and "base-uri 'none'" in policy
        assert reply.headers["Referrer-Policy"] == "same-origin" and reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["X-Content-Type-Options"] == "nosniff" and "Set-Cookie" not in reply.headers
    assert "<script>" not in replies[1].text and "<style" not in replies[1].text


def test_nobody_without_the_token_reads_or_marks(site: Site) -> None:
    token = site.markers[0].token
    for path in ("/", "/x/", f"/{token[:-1]}/", f"/{token}x/", f"/{token.swapcase()}/", "/../", f"/?token={token}"):
        reply = site.send("GET", path)
        assert reply.status in (403, 404) and "scale" not in reply.text, path
    form = site.follow(site.get(SCALE))
    fields = hidden(form.text, "mark")
    for path in ("/mark", "/x/mark", f"/{token[:-1]}/mark"):
        reply = site.send("POST", path, Origin=f"http://{site.host}")
        assert reply.status in (403, 404), path
    assert len(token) >= 40 and token != site.markers[1].token and fields


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://{host}"},
        {},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Host": "127.0.0.1.evil.example", "Origin": "http://127.0.0.1.evil.example"},
        {"Host": "evil.example@127.0.0.1.nip.io", "Origin": "http://evil.example"},
    ],
    ids=str,
)
def test_another_sites_page_marks_nothing_even_with_the_token(
    course: Course, site: Site, headers: dict[str, str]
) -> None:
    fields = "x=1_attention%2Fscale&points=2&" + "&".join(
        f"{name}={value}" for name, value in hidden(site.follow(site.get(SCALE)).text, "mark") if name == "member"
    )
    sent = {name: value.format(host=site.host) for name, value in headers.items()}
    for action in ("mark", "undo", "regroup", "points", "names"):
        path = f"/{site.markers[0].token}/{action}"
        with contextlib.suppress(ConnectionResetError):  # what is refused by its head alone may be cut off unread
            reply = site.send("POST", path, fields, **sent, Content_Type="application/x-www-form-urlencoded")
            assert reply.status in (400, 403), action
    assert not [one for one in course.everybody_autograded(ASSIGNMENT) if held(course, one, "scale")[0] is not None]


def test_a_name_that_was_let_lead_here_reads_nothing(site: Site) -> None:
    for host in ("evil.example", f"evil.example:{site.port}", "", "localhost.evil.example"):
        reply = site.send("GET", f"/{site.markers[0].token}/", Host=host)
        assert reply.status in (400, 403) and "Question" not in reply.text, host
    for host in (f"localhost:{site.port}", "localhost:9000"):  # the end of a tunnel
        assert site.send("GET", f"/{site.markers[0].token}/", Host=host).status == 200


def test_no_path_leads_to_a_file(site: Site) -> None:
    token = site.markers[0].token
    for path in ("../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "mark.css/../../desk.py", "desk.py",
                 "mark.css%00.py", "page.html.j2", ".autograder/salt", "gradebook.db"):  # fmt: skip
        assert site.send("GET", f"/{token}/{path}").status == 404, path
    for asked in ("../../autograded/text0/questions/1_attention", "1_attention/../scale", "scale", "1_attention/"):
        assert site.get(f"group?x={asked}").status == 404, asked


def test_rows_of_other_exercises_and_invented_members_are_not_marked(course: Course, site: Site) -> None:
    page = site.follow(site.get("group?x=1_attention%2Ffigure"))
    members = [value for name, value in hidden(page.text, "mark") if name == "member"]
    fields = [("x", "1_attention/scale"), ("g", ""), ("points", "2")]
    for name in (*members, "0" * 32, "", "' or 1=1 --"):
        fields.append(("member", name))
    site.post("mark", fields)
    assert all(held(course, one, "scale")[0] is None for one in course.everybody_autograded(ASSIGNMENT))


def test_the_page_listens_to_this_machine_alone(site: Site) -> None:
    lines = Path("/proc/net/tcp").read_text().splitlines() + Path("/proc/net/tcp6").read_text().splitlines()
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    own = [place.partition(":")[0] for place in listening if int(place.partition(":")[2], 16) == site.port]
    assert own == ["0100007F"]


def test_the_token_is_in_no_command_line_log_or_file(
    course: Course, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.get("nothing")
    tokens = [one.token for one in site.markers]
    files = (path for path in course.root.rglob("*") if path.is_file())
    kept = b"".join(path.read_bytes() for path in files) + Path("/proc/self/cmdline").read_bytes()
    assert not any(token.encode() in kept or token in caplog.text or token in repr(site.markers) for token in tokens)


def test_a_form_that_is_too_large_is_refused(site: Site) -> None:
    reply: Reply | None = None
    try:
        reply = site.post("mark", [("comment", "x" * (5 << 20))])
    except OSError:
        return  # the connection was closed while it was sent
    assert reply.status in (400, 413)


def test_the_second_look_shows_answers_and_comments_as_text(course: Course, site: Site) -> None:
    hostile = f"</p><script>{HACK}</script>"
    for exercise, points in (("scale", "2"), ("figure", "1")):
        page = site.follow(site.get(f"group?x=1_attention%2F{exercise}"))
        while f'value="1_attention/{exercise}"' in page.text and 'action="mark"' in page.text:
            page = site.mark(page, points, hostile)
        look = site.get(f"look?x=1_attention%2F{exercise}").text
        shown = re.search(r'(?s)<main class="look">(.*?)</main>', look)
        assert shown and unescape(shown[1]).count(hostile) > 10
        for tag, attributes in Tags(shown[1]).found:
            assert tag in ("p", "a", "span", "h2", "ul", "li"), tag
            assert not any(name.startswith(("on", "style")) for name in attributes), attributes
