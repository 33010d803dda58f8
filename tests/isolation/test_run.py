"""The stage RUN: cells in, outputs and harvested answers out, whatever the cells do."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from nbformat import validate
from nbformat.v4 import new_notebook

from autograder.kernel import InfrastructureError
from autograder.kernel.collect_answers import collect_answers
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.scratch import Scratch
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


def test_figures_and_magics_work(go: Go) -> None:
    ran = go(cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]);"), cell("%%time\nx = 1"))
    assert "image/png" in ran.notebook.cells[0].outputs[0].data
    assert ran.outcomes[1].visible.status == "ok"


HONEST = {
    "shell and subprocesses": """
import subprocess
print(subprocess.run('ls -la / > /dev/null; echo one | cat | tr o 0; date > when; cp when then; rm when; test -s then',
                     shell=True, capture_output=True, text=True, check=True).stdout)
get_ipython().run_cell_magic('bash', '', 'echo 3')""",
    "files": """
import json, os, pathlib, pickle, shutil, sqlite3, tarfile, tempfile, zipfile
with tempfile.TemporaryDirectory() as folder:
    made = pathlib.Path(folder, 'a'); made.mkdir(); (made / 'x.txt').write_text('x' * 100000)
    shutil.copytree(made, pathlib.Path(folder, 'b')); shutil.copy2(made / 'x.txt', 'kept.txt')
    shutil.make_archive('packed', 'zip', folder); shutil.make_archive('packed', 'gztar', folder)
    shutil.move(made / 'x.txt', 'moved.txt'); os.link('moved.txt', 'again.txt'); os.symlink('moved.txt', 'soft.txt')
base = sqlite3.connect('base.db'); base.execute('create table t (x)'); base.execute('insert into t values (1)')
base.commit(); assert base.execute('select * from t').fetchall() == [(1,)]
assert zipfile.ZipFile('packed.zip').namelist() and tarfile.open('packed.tar.gz').getnames()
assert os.stat('kept.txt').st_size == os.stat('soft.txt').st_size == 100000""",
    "numpy": """
import mmap, numpy as np
np.save('a.npy', np.random.rand(100, 100)); mapped = np.load('a.npy', mmap_mode='r+'); mapped[0] = 1; mapped.flush()
np.memmap('b.dat', dtype='float32', mode='w+', shape=(1000, 1000))[:] = 1
np.linalg.svd(np.random.rand(50, 50)); shared = mmap.mmap(-1, 1 << 20); shared[:4] = b'abcd'""",
    "torch": """
import torch, safetensors.torch
layer = torch.nn.Linear(8, 8); torch.save(layer.state_dict(), 'w.pt'); torch.load('w.pt', mmap=True)
safetensors.torch.save_file(layer.state_dict(), 'w.safetensors'); safetensors.torch.load_file('w.safetensors')
optimizer = torch.optim.Adam(layer.parameters()); layer(torch.rand(4, 8)).sum().backward(); optimizer.step()
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(8, 2)), batch_size=4, shuffle=True)
assert len(list(data)) == 2
torch.set_num_threads(2); torch.rand(300, 300) @ torch.rand(300, 300); torch.set_num_threads(1)""",
    "transformers": """
import tempfile
from transformers import DistilBertConfig, DistilBertModel
with tempfile.TemporaryDirectory() as folder:
    DistilBertModel(DistilBertConfig(vocab_size=50, dim=8, n_heads=2, n_layers=1, hidden_dim=8)).save_pretrained(folder)
    model = DistilBertModel.from_pretrained(folder)
assert model(torch.ones(1, 3, dtype=torch.long)).last_hidden_state.shape == (1, 3, 8)""",
    "matplotlib": """
import matplotlib.pyplot as plt
figure, axes = plt.subplots(2, 2); axes[0, 0].plot([1, 2]); axes[0, 1].imshow([[1, 2]]); axes[1, 0].set_title(r'$x^2$')
for kind in ('png', 'svg', 'pdf', 'jpg'): figure.savefig(f'figure.{kind}')
plt.close()""",
    "processes and threads": """
import asyncio, concurrent.futures, multiprocessing, os, resource, signal, threading, time
with concurrent.futures.ThreadPoolExecutor(4) as pool: assert list(pool.map(abs, [-1, -2])) == [1, 2]
worker = multiprocessing.get_context('fork').Process(target=time.sleep, args=(0.01,)); worker.start(); worker.join()
assert worker.exitcode == 0
ours, theirs = multiprocessing.Pipe(); ours.send([1]); assert theirs.recv() == [1]
async def several(): return await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.to_thread(abs, -2))
done = []; thread = threading.Thread(target=lambda: done.append(asyncio.run(several()))); thread.start(); thread.join()
assert done == [[1, 2]]
signal.signal(signal.SIGALRM, lambda *_: done.append('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.05)
assert done[-1] == 'alarm'
resource.getrlimit(resource.RLIMIT_CPU); resource.setrlimit(resource.RLIMIT_STACK, (1 << 26, -1))""",
}


def test_what_honest_notebooks_use_is_on_the_list_of_system_calls(go: Go) -> None:
    ran = go(*(cell(source) for source in HONEST.values()))
    failed = {what: outcome.visible for what, outcome in zip(HONEST, ran.outcomes, strict=True)}
    assert {what: part for what, part in failed.items() if part.status != "ok"} == {}
    assert "0ne\n" in text(ran.notebook) and "3\n" in text(ran.notebook)


def test_the_files_beside_the_notebook_can_be_imported_and_the_inputs_read(go: Go, tmp_path: Path) -> None:
    (tmp_path / "stored").mkdir()
    (tmp_path / "stored" / "inputs.json").write_text("7")
    ran = go(
        cell("import models, os, pathlib\nmodels.y"),
        cell("pathlib.Path(os.environ['AUTOGRADER_INPUTS'], 'a/b/inputs.json').read_text()"),
        cell("pathlib.Path(os.environ['AUTOGRADER_INPUTS'], 'a/b/inputs.json').write_text('8')"),
        files={"models.py": b"y = 5"},
        inputs={"a/b": tmp_path / "stored"},
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


def test_answers_that_lay_there_before_the_hidden_part_are_not_taken(go: Go) -> None:
    forged = (
        "import os, pathlib\nfolder = pathlib.Path(os.environ['AUTOGRADER_ANSWERS'], 'exercise/one')\n"
        "folder.mkdir(parents=True)\n(folder / '0.safetensors').write_text('forged')\n"
        "(folder / '1.safetensors').write_text('forged')"
    )
    ran = go(cell(forged), graded("", "'honest'"))
    assert [file.read_text() for file in ran.answers.glob("*/exercise/one/*")] == ["honest"]


def test_later_code_cannot_change_an_answer(go: Go) -> None:
    later = (
        "import os, pathlib\nfolder = pathlib.Path(os.environ['AUTOGRADER_ANSWERS'], 'exercise/one')\n"
        "folder.mkdir(parents=True, exist_ok=True)\n(folder / '0.safetensors').write_text('forged')"
    )
    assert answer(go(graded("", "'honest'"), cell(later))) == "honest"


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
    ran = go(cell(ENDLESS), *(cell("send(120)") for _ in range(8)), cell("'after'"))
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


def test_disk_without_end_is_stopped(go: Go) -> None:
    fill = "for i in range(4000):\n    open(f'f{i}', 'wb').write(bytes(1 << 20))"
    ran = go(cell(fill), cell("'after'"), limits=Limits(disk_bytes=32 << 20))
    assert ran.outcomes[0].visible.status == "crashed" and "disk" in ran.outcomes[0].visible.evalue
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


def test_a_folder_that_was_made_awkward_is_removed_all_the_same(go: Go, kernels: Kernels) -> None:
    awkward = (
        "import os\nos.mkdir('shut', 0)\n"
        "for _ in range(3000):\n    os.mkdir('deep')\n    os.chdir('deep')\n"
    )  # fmt: skip
    ran = go(cell(awkward), cell("1"))
    assert ran.outcomes
    assert [entry.name for entry in kernels._base.iterdir()] == ["lock"]


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
    monkeypatch.setattr("autograder.kernel.room._free", lambda folder: next(free, 0))
    with pytest.raises(InfrastructureError, match="temporary folder was full"):
        go(cell("import time; time.sleep(0.2)"), cell("raise OSError(28, 'No space left on device')"))


def test_a_cell_that_succeeds_while_the_disk_is_full_counts(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    free = iter([1 << 30])
    monkeypatch.setattr("autograder.kernel.room._free", lambda folder: next(free, 0))
    assert answer(go(graded("", "'x'"))) == "x"


def test_a_kernel_does_not_start_on_a_full_disk(go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.kernel.room._free", lambda folder: 0)
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
