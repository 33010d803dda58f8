"""What honest notebooks use works in a confined kernel."""

from __future__ import annotations

import pytest

from autograder.model.limits import Limits
from tests.isolation.conftest import Go, cell, text


def test_figures_and_magics_work(go: Go) -> None:
    ran = go(cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]);"), cell("%%time\nx = 1"))
    assert "image/png" in ran.notebook.cells[0].outputs[0].data
    assert ran.outcomes[1].visible.status == "ok"


@pytest.mark.parametrize("magic", ["%matplotlib inline", "%pylab inline", "%matplotlib agg", "%matplotlib notebook"])
def test_a_cell_goes_on_behind_the_magic_that_most_notebooks_begin_with(go: Go, magic: str) -> None:
    ran = go(cell(f"{magic}\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nx = 7"), cell("print(x)"))
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "ok"], text(ran.notebook)
    assert "7" in text(ran.notebook)
    drawn = [output for output in ran.notebook.cells[0].outputs if "image/png" in output.get("data", {})]
    assert bool(drawn) == (magic != "%matplotlib agg")  # windows are drawn inline


def test_a_cell_goes_on_behind_a_shell_command_and_shows_what_it_says(go: Go) -> None:
    ran = go(cell("!echo one two; echo three >&2; exit 3\nprint(_exit_code)"), cell("!echo {40 + 2} | tr 4 5"),
             cell("found = !echo seven\nprint(found)"), cell("%pip --version"))  # fmt: skip
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok"] * 4, text(ran.notebook)
    said = text(ran.notebook)
    assert "one two\nthree\n3\n52\n" in said and "['seven']" in said


def test_a_shell_command_that_never_ends_costs_its_own_cell(go: Go) -> None:
    ran = go(cell("!sleep 600"), cell("print('next')"), limits=Limits(cell_seconds=1))
    assert [outcome.visible.status for outcome in ran.outcomes] == ["timeout", "ok"]
    assert "next" in text(ran.notebook)


def test_a_figure_keeps_its_alt_text(go: Go) -> None:
    ran = go(cell("from course import figures"), cell("figures.head_grid([[[1.0]]], ['word'], ['head 7'])"))
    (shown,) = ran.notebook.cells[1].outputs
    assert shown.metadata["image/png"]["alt"].startswith("Attention weights of head 7. Largest weight of each query: ")


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
