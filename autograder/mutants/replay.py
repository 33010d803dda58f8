"""Compares versions of a solution with the solution: ``python -m autograder.mutants.replay TASK``, one process.

The cells of the exercise run once with the solution, on stored inputs and on freshly drawn ones, while calls of its
functions are recorded. Each version then runs in a forked child: the same cells on the freshly drawn inputs, and the
recorded calls and variations of them, side by side with the solution's. For an author's own code alone.
"""

import contextlib
import importlib
import io
import json
import os
import resource
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.files.temporary import TemporaryFolder
from autograder.model.limits import Limits
from autograder.mutants.compared import Expected, Namespace, compare, difference, expected, is_picture, pixels
from autograder.mutants.recorded import Call, Recorder, described, shapes, variations

#: Processor seconds for one version.
MAX_SECONDS = 90
#: Recorded calls of one function that are varied; the others are made again as they were.
MAX_VARIED = 4
#: Recorded calls of one function with the same shapes and sizes that are made again.
MAX_ALIKE = 2
#: Bytes beyond which two calls of a function are alike, and none is varied: each keeps the weights and their gradients.
LARGE = 4 << 20
#: Calls that give a picture, which takes a hundred times as long to draw as numbers take to compute.
MAX_PICTURES = 6


class ReplaySession:
    """The cells of a part's exercises.

    task: ``paths``, ``modules`` to import; ``folder``, the working folder; ``cells``, [name, source] of those that run
    before and between; ``place``, which of them, or which file, is the part; ``classes``, of the part; ``hidden``,
    [grade id, visible, hidden] of the graded cells; ``inputs``, folders with stored inputs, the course's own first.
    """

    def __init__(self, task: dict[str, Any]) -> None:
        self.task, self.file = task, task["file"]
        sys.path[:0] = task["paths"]
        for name in ("IPython.core.interactiveshell", "autograder.testing", *task["modules"]):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        if (torch := sys.modules.get("torch")) is not None:
            torch.set_num_threads(1)
        sys.path.insert(0, "")

    def run(self, text: str, answers: Path, recorder: Recorder | None = None) -> Namespace:
        """Run the cells with this text in place of the part; hidden parts hand over to ``answers``. -> all names

        Raises what the part itself raises. What a graded cell raises is no matter.
        """
        folder = Path(tempfile.mkdtemp(dir=answers, prefix="work-"))
        for path in Path(self.task["folder"]).iterdir():
            (folder / path.name).symlink_to(path)
        if self.file:
            (folder / self.task["place"]).unlink(missing_ok=True)
            (folder / self.task["place"]).write_text(text, encoding="utf-8")
        os.chdir(folder)
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        names = vars(module)
        with contextlib.ExitStack() as stack:
            if recorder is not None:
                stack.enter_context(recorder.recording())
            for name, source in self.task["cells"]:
                self._execute(text if name == self.task["place"] else source, name, names)
            for number, inputs in enumerate(self.task["inputs"]):
                os.environ["AUTOGRADER_INPUTS"] = inputs
                for name, visible, hidden in self.task["hidden"]:
                    os.environ["AUTOGRADER_ANSWERS"] = str(answers / str(number) / name)
                    if number == 0 and recorder is not None:
                        self._attempt(visible, names)
                    self._attempt(hidden, names)
        if self.file:
            made = types.ModuleType("solution")
            names = vars(made)
            exec(compile(text, self.task["place"], "exec"), names)
        return names

    def _execute(self, source: str, name: str, names: Namespace) -> None:
        from IPython.core.inputtransformer2 import TransformerManager

        exec(compile(TransformerManager().transform_cell(source), f"cell {name}", "exec"), names)

    def _attempt(self, source: str, names: Namespace) -> None:
        with contextlib.suppress(Exception, SystemExit):
            self._execute(source, "graded", names)


def main(path: str) -> None:
    """Write one line of JSON for each version: ``{id, same, input, differs, tried}``."""
    task = json.loads(Path(path).read_text(encoding="utf-8"))
    said, quiet = os.fdopen(os.dup(1), "w"), io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet), TemporaryFolder("replay-") as scratch:
        session = ReplaySession(task)
        answers = Path(scratch, "solution")
        answers.mkdir()
        recorder = Recorder((task["place"] if session.file else f"cell {task['place']}",), frozenset(task["classes"]))
        ours = session.run(task["text"], answers)
        session.run(
            task["text"], Path(tempfile.mkdtemp(dir=scratch)), recorder
        )  # recording changes what checks can see
        calls = [one for one in recorder.calls if not session.file or one.name.partition(".")[0] in task["names"]]
        wanted = _few_pictures([found for call in _varied(calls) for found in expected(ours, call)])
        for version in task["versions"]:
            said.write(
                json.dumps({"id": version["id"], **_in_child(session, version["text"], ours, wanted, answers)}) + "\n"
            )
            said.flush()


def _varied(calls: list[Call]) -> Iterator[Call]:
    """The smaller calls first: few of each function with variations, the others as they were, few of the same sizes."""
    known, alike = Counter[str](), Counter[str]()
    for call in sorted(calls, key=lambda call: call.size):
        is_large = call.size > LARGE
        like = call.name if is_large else shapes(call)
        known[call.name] += 1
        alike[like] += 1
        if known[call.name] <= MAX_VARIED and not is_large:
            yield from variations(call)
        elif alike[like] <= MAX_ALIKE:
            yield call


def _few_pictures(wanted: list[Expected]) -> list[Expected]:
    """At most MAX_PICTURES calls that give a picture, from all kinds; what the solution draws is drawn here, once."""
    pictures = [number for number, want in enumerate(wanted) if is_picture(want.found["result"])]
    step = -(-len(pictures) // MAX_PICTURES) or 1
    kept = pictures[::step]
    for number in kept:
        pixels(wanted[number].found["result"])
    return [want for number, want in enumerate(wanted) if number in kept or number not in pictures]


def _in_child(
    session: ReplaySession, text: str, ours: Namespace, wanted: list[Expected], answers: Path
) -> dict[str, Any]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
        _bound_memory()
        own = TemporaryFolder("replay-")
        try:
            found = _compared(session, text, ours, wanted, answers, own.path)
        except BaseException as error:
            found = _different("its cell", f"it stops with {type(error).__name__}: {str(error)[:200]}", "")
        os.chdir("/")
        own.remove()
        with os.fdopen(writing, "w") as pipe:
            pipe.write(json.dumps(found))
            pipe.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    if not told:
        return _different("its cells", f"it took over {MAX_SECONDS} s or too much memory, or ended the process", "")
    said: dict[str, Any] = json.loads(told)
    return said


def _bound_memory() -> None:
    """A version may take what a submission may, beyond what it inherits. Not where the system does not say how much."""
    with contextlib.suppress(OSError):
        with open("/proc/self/statm", encoding="ascii") as file:
            inherited = int(file.read().split()[0]) * resource.getpagesize()
        most = inherited + Limits().memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _different(at: str, differs: str, tried: str) -> dict[str, Any]:
    return {"same": False, "input": at, "differs": differs, "tried": tried}


def _compared(
    session: ReplaySession, text: str, ours: Namespace, wanted: list[Expected], answers: Path, own: Path
) -> dict[str, Any]:
    theirs = session.run(text, own)
    handed = sorted(path.relative_to(answers) for path in answers.rglob("*.safetensors"))
    for path in handed:
        if differs := _of_files(answers / path, own / path):
            return _different(f"freshly drawn case {path.stem} of {path.parent.name}", differs, "")
    if not session.file and (differs := _of_variables(session, ours, theirs)):
        return _different("a variable of the cell", differs, "")
    looks = ""
    for want in wanted:
        if looks and is_picture(want.found["result"]):
            continue  # drawing takes long, and one picture that looks different says enough
        differs = compare(want, theirs)
        if differs.endswith("the picture looks different"):
            looks = differs
        elif differs:
            return _different(described(want.call) + (f" [{want.mode}]" if want.mode else ""), differs, "")
    if not wanted and not handed:
        return _different("nothing", "no call of the solution could be made again", "")
    kinds = dict.fromkeys(kind for want in wanted for kind in (_kind(want.call.source), want.mode) if kind)
    tried = f"{len(handed)} freshly drawn cases; {len(wanted)} calls: {', '.join(kinds)}"
    return {"same": True, "input": "", "differs": looks, "tried": tried}


def _kind(source: str) -> str:
    return "other lengths" if source.startswith("length") else "other numbers" if source.startswith("whole") else source


def _of_files(want: Path, got: Path) -> str:
    from safetensors.numpy import load_file

    if not got.is_file():
        return "nothing is handed over"
    return difference(load_file(want), load_file(got), "what is handed over")


def _of_variables(session: ReplaySession, ours: Namespace, theirs: Namespace) -> str:
    """Top-level names that the part binds to plain values."""
    for name in session.task["names"]:
        want, got = ours.get(name), theirs.get(name)
        if isinstance(want, str | int | float | list | tuple) and (said := difference(want, got, name)):
            return said
    return ""


if __name__ == "__main__":
    main(sys.argv[1])
