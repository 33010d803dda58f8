"""The stage RUN: cells in, outputs and harvested answers out, whatever the cells do."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest
from nbformat import validate
from nbformat.v4 import new_notebook

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


def test_the_hidden_part_runs_even_when_the_visible_part_failed(go: Go) -> None:
    ran = go(cell("x = 1"), graded("assert x == 2", "str(x)"))
    (outcome,) = ran.outcomes[1:]
    assert (outcome.visible.status, outcome.visible.ename) == ("error", "AssertionError")
    assert outcome.hidden is not None and outcome.hidden.status == "ok"
    assert answer(ran) == "1"


def test_the_outputs_of_a_hidden_part_do_not_land_in_the_notebook(go: Go) -> None:
    ran = go(graded("print('visible')", "print('secret') or 'x'"))
    assert text(ran.notebook) == "visible\n"


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


def test_a_file_beside_the_notebook_cannot_pass_for_a_part_of_the_kernel(go: Go) -> None:
    names = ("ipykernel_launcher", "debugpy", "jedi", "sitecustomize", "autograder", "history")
    ran = go(cell("1"), files={f"{name}.py": b"import os; os._exit(1)" for name in names})
    assert text(ran.notebook) == "1"


def test_a_file_name_that_leads_out_of_the_folder_is_refused(go: Go) -> None:
    with pytest.raises(ValueError, match=r"\.\./x"):
        go(cell("1"), files={"../x": b""})


def test_a_crash_costs_its_own_cell_and_the_earlier_ones_are_run_again(go: Go) -> None:
    ran = go(cell("x = 1"), cell("import os\nos._exit(1)"), cell("y = x + 1"), graded("", "str(y)"))
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "crashed", "ok", "ok"]
    assert answer(ran) == "2"


def test_a_crash_in_the_visible_part_leaves_the_hidden_part_its_chance(go: Go) -> None:
    ran = go(cell("x = 3"), graded("import ctypes; ctypes.string_at(0)", "str(x)"))
    assert ran.outcomes[1].visible.status == "crashed"
    assert "SIGSEGV" in ran.outcomes[1].visible.evalue
    assert answer(ran) == "3"


def test_a_kernel_that_dies_after_its_last_reply_costs_no_cell(go: Go) -> None:
    ran = go(
        cell("import os, threading\nthreading.Timer(0.05, os._exit, [0]).start()"),
        cell("import time; time.sleep(0.5)"),
        graded("x = 1", "str(x)"),
    )
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "crashed", "ok"]


def test_exit_ends_a_cell_and_not_the_kernel(go: Go) -> None:
    ran = go(cell("x = 1\nexit()"), cell("import time; time.sleep(0.3)"), graded("", "str(x)"))
    assert answer(ran) == "1"


def test_a_cell_that_takes_too_long_is_interrupted_and_the_kernel_goes_on(go: Go) -> None:
    ran = go(cell("x = 1\nwhile True: pass"), cell("x"), limits=Limits(cell_seconds=0.3))
    assert [outcome.visible.status for outcome in ran.outcomes] == ["timeout", "ok"]
    assert text(ran.notebook) == "1"


def test_a_cell_that_swallows_the_interrupt_is_killed(go: Go) -> None:
    stubborn = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ran = go(cell("x = 1"), cell(stubborn), cell("x"), limits=Limits(cell_seconds=0.3))
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "timeout", "ok"]
    assert text(ran.notebook) == "1"


def test_when_the_submissions_time_is_up_the_rest_is_skipped(go: Go) -> None:
    ran = go(cell("while True: pass"), graded("x = 1", "'1'"), limits=Limits(submission_seconds=3.0))
    assert ran.outcomes[0].visible.status == "timeout"
    assert ran.outcomes[1].visible.status == "skipped"
    assert ran.outcomes[1].hidden is not None and ran.outcomes[1].hidden.status == "skipped"
    assert answer(ran) is None


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


def test_what_a_cell_clears_or_updates_is_shown_as_it_ended(go: Go) -> None:
    ran = go(
        cell("from IPython.display import clear_output\nprint('old')\nclear_output()\nprint('new')"),
        cell("from IPython.display import display\nd = display('old', display_id=True)\nd.update('newer')"),
    )
    assert text(ran.notebook) == "new\n'newer'"


def test_output_that_no_file_can_hold_is_made_harmless(go: Go) -> None:
    ran = go(cell(r"print('\ud800'); '\udfff'"), cell("raise Exception('\\ud800' * 3)"))
    validate(ran.notebook)
    assert str(ran.notebook).encode() and ran.outcomes[1].visible.evalue.encode()


def test_a_script_in_an_output_stays_out(go: Go) -> None:
    ran = go(cell("from IPython.display import Javascript, display\ndisplay(Javascript('alert(1)'))"))
    assert all("application/javascript" not in output.get("data", {}) for output in ran.notebook.cells[0].outputs)


def test_nothing_of_the_instructors_environment_reaches_the_kernel(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    ran = go(cell("import os\nprint(dict(os.environ))\nprint(open('/proc/self/environ').read())"))
    assert "hunter2" not in text(ran.notebook) and "AUTOGRADER_ANSWERS" in text(ran.notebook)


def test_memory_without_end_is_an_error_of_the_cell(go: Go) -> None:
    ran = go(cell("x = [bytearray(1 << 26) for _ in range(100)]"), cell("'after'"), limits=Limits(memory_bytes=1 << 30))
    assert ran.outcomes[0].visible.ename == "MemoryError"
    assert text(ran.notebook) == "'after'"


def test_a_reply_that_is_forged_before_the_end_gains_no_answer(go: Go) -> None:
    forge = (
        "import os\nkernel = get_ipython().kernel\n"
        "parent = kernel.get_parent()\n"
        "def forge(*rest, **more):\n"
        "    request = kernel.get_parent()\n"
        "    kernel.session.send(kernel.shell_stream.socket, 'execute_reply', {'status': 'ok'}, parent=request)\n"
        "    while True: pass\n"
        "get_ipython().run_cell_async = forge\nkernel.do_execute = forge"
    )
    ran = go(cell(forge), graded("", "'x'"), limits=Limits(cell_seconds=0.5))
    assert answer(ran) is None


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


def test_throughput(go: Go, capsys: pytest.CaptureFixture[str]) -> None:
    go(cell("1"))
    start = time.perf_counter()
    for _ in range(5):
        go(cell("import torch"), cell("torch.rand(2, 2) @ torch.rand(2, 2)"), graded("1", "'x'"))
    with capsys.disabled():
        print(f"\n  {(time.perf_counter() - start) / 5:.3f} s for a tiny notebook")
