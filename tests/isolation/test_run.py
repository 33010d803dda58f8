"""The stage RUN: cells in, outputs and harvested answers out, whatever the cells do."""

import os
import re
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from nbformat import validate
from nbformat.v4 import new_notebook

from autograder.errors import InfrastructureError
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.scratch import Scratch, collect_answers
from autograder.pipeline.execute import Kernels, Limits, run
from tests.attacks.machine import ENDLESS
from tests.isolation.conftest import Go, answer, cell, graded, text


def test_a_notebook_runs_and_its_hidden_part_hands_over_the_answer(go: Go) -> None:
    ran = go(cell("x = 6 * 7\nprint('seen')\nx"), graded("assert x == 42", "str(x)"))
    assert answer(ran) == "42"
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "ok"]
    assert ran.outcomes[0].hidden is None
    assert text(ran.notebook) == "seen\n42"
    validate(ran.notebook)


SWALLOW = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
DIE_LATER = "import os, threading\nthreading.Timer(0.05, os._exit, [0]).start()"
FILL = "for i in range(4000):\n    open(f'f{i}', 'wb').write(bytes(1 << 20))"
SHOW = "from IPython.display import Javascript, clear_output, display\n"
LAY = (
    "import os, pathlib\nfolder = pathlib.Path(os.environ['AUTOGRADER_ANSWERS'], 'exercise/one')\n"
    "folder.mkdir(parents=True, exist_ok=True)\n(folder / '0.safetensors').write_text('forged')\n"
    "(folder / '1.safetensors').write_text('forged');"
)
FORGE = """import os
kernel = get_ipython().kernel
def forge(*rest, **more):
    request = kernel.get_parent()
    kernel.session.send(kernel.shell_stream.socket, 'execute_reply', {'status': 'ok'}, parent=request)
    while True: pass
get_ipython().run_cell_async = forge
kernel.do_execute = forge"""
BRIEF, SHORT = {"cell_seconds": 0.3}, {"submission_seconds": 3.0}
PARTS = ("ipykernel_launcher", "debugpy", "jedi", "sitecustomize", "autograder", "history")
#: What a notebook does -> its cells (a pair is a graded one: its visible part, and what it hands over), limits -> how
#: the visible parts end, what is shown, and the answer that was taken.
NOTEBOOKS = {
    "the hidden part runs though the visible one failed": (
        ["x = 1", ("assert x == 2", "str(x)")], {}, "ok error+AssertionError", "", "1"),
    "outputs of a hidden part stay out": ([("print('visible')", "print('secret') or 'x'")], {}, "ok", "visible\n", "x"),
    "a crash costs its own cell": (
        ["x = 1", "import os\nos._exit(1)", "y = x + 1", ("", "str(y)")], {}, "ok crashed ok ok", "", "2"),
    "a visible part that crashes": (
        ["x = 3", ("import ctypes; ctypes.string_at(0)", "str(x)")], {}, "ok crashed+SIGSEGV", "", "3"),
    "a kernel dies after its last reply": (
        [DIE_LATER, "import time; time.sleep(0.5)", ("x = 1", "str(x)")], {}, "ok crashed ok", "", "1"),
    "exit ends a cell alone": (["x = 1\nexit()", "import time; time.sleep(0.3)", ("", "str(x)")], {}, None, "", "1"),
    "a cell that takes too long": (["x = 1\nwhile True: pass", "x"], BRIEF, "timeout ok", "1", None),
    "a cell that swallows the interrupt": (["x = 1", SWALLOW, "x"], BRIEF, "ok timeout ok", "1", None),
    "the submission's time is up": (["while True: pass", ("x = 1", "'1'")], SHORT, "timeout skipped", "", None),
    "what is cleared or updated is shown as it ended": (
        [f"{SHOW}print('old')\nclear_output()\nprint('new')", "d = display('old', display_id=True)\nd.update('newer')"],
        {}, "ok ok", "new\n'newer'", None),
    "a script stays out of the outputs": ([f"{SHOW}display(Javascript('alert(1)'))"], {}, "ok", None, None),
    "memory without end": (["x = [bytearray(1 << 26) for _ in range(100)]", "'after'"], {"memory_bytes": 1 << 30},
                           "error+MemoryError ok", "'after'", None),
    "disk without end": ([FILL, "'after'"], {"disk_bytes": 32 << 20}, "crashed+disk ok", "'after'", None),
    "a forged reply gains no answer": ([FORGE, ("", "'x'")], {"cell_seconds": 0.5}, None, None, None),
    "answers that lay there before are not taken": ([LAY, ("", "'honest'")], {}, "ok ok", "", "honest"),
    "later code changes no answer": ([("", "'honest'"), LAY], {}, "ok ok", "", "honest"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_cell_costs_and_gains_itself_alone(go: Go, name: str) -> None:
    cells, limits, ends, shown, answered = NOTEBOOKS[name]
    ran = go(*(cell(one) if isinstance(one, str) else graded(*one) for one in cells), limits=Limits(**limits))
    visible = [outcome.visible for outcome in ran.outcomes]
    for part, end in zip(visible, ends.split() if ends else (), strict=bool(ends)):
        assert {*end.split("+")} <= {part.status, part.ename, *re.findall(r"\w+", part.evalue)}, (part, end)
    assert shown is None or text(ran.notebook) == shown
    assert [file.read_text() for file in ran.answers.glob("*/exercise/one/*")] == ([answered] if answered else [])
    hidden = [outcome.hidden.status for outcome in ran.outcomes if outcome.hidden is not None]
    assert shown is None or hidden == ["ok" if answered else "skipped"] * sum(isinstance(one, tuple) for one in cells)
    assert all(
        "application/javascript" not in one.get("data", {}) for each in ran.notebook.cells for one in each.outputs
    )


def test_the_files_beside_the_notebook_can_be_imported_and_the_inputs_read(go: Go) -> None:
    ran = go(
        cell("import models, os, pathlib\nmodels.y"),
        cell("pathlib.Path(os.environ['AUTOGRADER_INPUTS'], 'a/b/inputs.json').read_text()"),
        cell("pathlib.Path(os.environ['AUTOGRADER_INPUTS'], 'a/b/inputs.json').write_text('8')"),
        files={"models.py": b"y = 5"},
        inputs={"a/b": {"inputs.json": b"7"}},
    )
    assert text(ran.notebook) == "5'7'"
    assert ran.outcomes[2].visible.ename == "PermissionError"
    with pytest.raises(ValueError, match=r"\.\./x"):
        go(cell("1"), files={"../x": b""})
    ran = go(cell("1"), files={f"{name}.py": b"import os; os._exit(1)" for name in PARTS})  # none is part of the kernel
    assert text(ran.notebook) == "1"


def test_a_flood_of_output_is_bounded_while_it_streams_and_the_grader_does_not_grow(go: Go) -> None:
    go(cell("print(1)"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flood = "import time\nend = time.time() + 2\nwhile time.time() < end: print('x' * 20000)"
    ran = go(cell(flood), cell("'after'"))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 100, f"{grown:.0f} MB"
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "ok"]
    assert "left out" in ran.notebook.cells[0].outputs[-1].text
    assert len(text(ran.notebook)) < 1.1 * (1 << 20)
    validate(ran.notebook)


def test_a_message_that_never_ends_cannot_make_the_grader_grow_cell_by_cell(go: Go) -> None:
    go(cell("1"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = go(cell(ENDLESS), *(cell("send(300)") for _ in range(4)), cell("'after'"))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 700, f"{grown:.0f} MB"
    assert "flooded" in "".join(outcome.visible.evalue for outcome in ran.outcomes)
    assert text(ran.notebook) == "'after'"


def test_very_many_outputs_are_bounded_in_number(go: Go) -> None:
    ran = go(cell("from IPython.display import display\nfor i in range(1000): display(i)"))
    assert 100 < len(ran.notebook.cells[0].outputs) <= 201


def test_output_that_no_file_can_hold_is_made_harmless(go: Go) -> None:
    ran = go(cell(r"print('\ud800'); '\udfff'"), cell("raise Exception('\\ud800' * 3)"))
    validate(ran.notebook)
    assert str(ran.notebook).encode() and ran.outcomes[1].visible.evalue.encode()


def test_nothing_of_the_instructors_environment_reaches_the_kernel(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    ran = go(cell("import os\nprint(dict(os.environ))\nprint(open('/proc/self/environ').read())"))
    assert "hunter2" not in text(ran.notebook) and "AUTOGRADER_ANSWERS" in text(ran.notebook)


def test_garbage_on_every_channel_is_survived(go: Go) -> None:
    garbage = (
        "import zmq\nkernel = get_ipython().kernel\nsession = kernel.session\nparent = kernel.get_parent()\n"
        "publish = kernel.iopub_thread.send_multipart\n"
        "publish([b'x'])\npublish([b''] * 50)\npublish([b'<IDS|MSG>', b'0', b'{', b'{', b'{', b'{'])\n"
        "deep = b'[' * 100000\npublish([b'<IDS|MSG>', session.sign([deep] * 4), deep, deep, deep, deep])\n"
        "for kind, content in [('stream', []), ('stream', {'name': 1, 'text': {}}), ('clear_output', {'wait': []}),"
        " ('display_data', {'data': {'text/plain': 3}}), ('execute_result', {'data': None, 'execution_count': 'x'}),"
        " ('error', {'traceback': 3, 'ename': [], 'evalue': {}}), ('update_display_data', {'transient': 'x'}),"
        " ('status', {'execution_state': []})]:\n"
        "    session.send(kernel.iopub_socket, kind, content, parent=parent)\n"
        "'alive'"
    )
    ran = go(cell(garbage), cell("'after'"))
    assert "'after'" in text(ran.notebook)
    validate(ran.notebook)


def test_a_folder_that_was_made_awkward_is_removed_all_the_same(go: Go, kernels: Kernels) -> None:
    awkward = (
        "import os\nos.mkdir('shut', 0)\n"
        "for _ in range(3000):\n    os.mkdir('deep')\n    os.chdir('deep')\n"
    )  # fmt: skip
    ran = go(cell(awkward), cell("1"))
    assert ran.outcomes
    assert list(kernels._base.iterdir()) == []


def test_plain_kernels_run_the_same_notebook_when_told_so(tmp_path: Path) -> None:
    crash = cell("import os; os._exit(0)")
    notebook = new_notebook(cells=[cell("import models\nx = models.y"), crash, graded("x", "str(x)")])
    with Kernels.open("none") as plain:
        assert not plain.confined
        ran = run(notebook, files={"models.py": b"y = 5"}, inputs={}, answers=tmp_path, kernels=plain, limits=Limits())
    assert answer(ran) == "5"
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "crashed", "ok"]


def test_links_in_an_answers_place_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.safetensors"
    secret.write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "0.safetensors").write_text("elsewhere")
    scratch = Scratch(tmp_path / "scratch")
    folder = scratch.out / "answers" / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "0.safetensors").symlink_to(secret)
    (folder / "1.safetensors").hardlink_to(secret)
    (folder / "2.safetensors").mkdir()
    (folder / "3.safetensors").write_text("plain")
    (folder / "..safetensors").write_text("odd name")
    os.mkfifo(folder / "4.safetensors")
    (scratch.out / "answers" / "a" / "c").symlink_to(tmp_path / "elsewhere")
    answers = tmp_path / "taken"
    notes = collect_answers(scratch.out, "a/b", answers) + collect_answers(scratch.out, "a/c", answers)
    assert [str(file.relative_to(answers)) for file in answers.rglob("*.safetensors")] == ["a/b/3.safetensors"]
    assert len(notes) == 5
    with pytest.raises(ValueError):
        collect_answers(scratch.out, "../a", answers)


def test_answers_that_are_too_large_are_left(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "scratch")
    folder = scratch.out / "answers" / "a"
    folder.mkdir(parents=True)
    with open(folder / "0.safetensors", "wb") as sparse:
        sparse.truncate(17 << 20)
    assert len(collect_answers(scratch.out, "a", tmp_path / "taken")) == 1
    assert not (tmp_path / "taken").exists()


def test_a_full_disk_on_the_graders_side_is_no_fault_of_the_submission(
    go: Go, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InfrastructureError, match="No space left"):
        go(cell("1"), files={"models.py": b""})


def test_a_cell_that_fails_while_others_have_filled_the_disk_is_no_fault_of_the_submission(
    go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = iter([1 << 30, 1 << 30])  # when the kernel starts, and when the first cell does
    monkeypatch.setattr("autograder.kernel.scratch._free", lambda folder: next(free, 0))
    with pytest.raises(InfrastructureError, match="temporary folder was full"):
        go(cell("import time; time.sleep(0.2)"), cell("raise OSError(28, 'No space left on device')"))


def test_a_cell_that_succeeds_while_the_disk_is_full_counts(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    free = iter([1 << 30])
    monkeypatch.setattr("autograder.kernel.scratch._free", lambda folder: next(free, 0))
    assert answer(go(graded("", "'x'"))) == "x"


def test_a_kernel_does_not_start_on_a_full_disk(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.kernel.scratch._free", lambda folder: 0)
    with pytest.raises(InfrastructureError, match="is full"):
        go(cell("1"))


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="mounting a small disk takes root")
def test_no_submission_can_fill_a_small_disk_and_blame_the_grader(
    fork_server: KernelForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Path(tempfile.mkdtemp(dir="/tmp"))  # a short path, as unix sockets need one
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m,mode=755", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        small.rmdir()
        pytest.skip("this machine lets nobody mount a small disk")
    fill = (
        "import os, time\nfor n in range(100):\n    open(f'f{n}', 'wb').write(bytes(1 << 20)); time.sleep(0.02)\n"
        "time.sleep(5)"
    )
    try:
        monkeypatch.setattr("tempfile.tempdir", str(small))
        with Kernels.open(fork_server=fork_server.address) as kernels, kernels.answers() as answers:
            notebook = new_notebook(cells=[cell(fill), graded("x = 1", "str(x)")])
            ran = run(notebook, files={}, inputs={}, answers=answers, kernels=kernels)
            assert "to disk" in ran.outcomes[0].visible.evalue
            assert answer(ran) == "1"
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
        small.rmdir()
