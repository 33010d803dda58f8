"""What honest notebooks use works in a confined kernel."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from autograder.kernel import warm_process
from autograder.model.limits import Limits
from tests.isolation.conftest import Go, cell, text

USE = "import matplotlib\nmatplotlib.use('{}')"


@pytest.mark.parametrize("magic", [
    "%matplotlib inline", "%pylab inline", "%matplotlib agg", "%matplotlib notebook", "%matplotlib tk;", "%pylab tk",
    "get_ipython().run_line_magic('matplotlib', 'tk')", "%gui tk", USE.format("TkAgg"), USE.format("Qt5Agg"),
    USE.format("MacOSX"), "import matplotlib.pyplot as plt\nplt.switch_backend('GTK3Agg')",
    "import matplotlib\nmatplotlib.rcParams['backend'] = 'WebAgg'", USE.format("pdf"),
])  # fmt: skip
def test_a_cell_goes_on_behind_the_magic_that_most_notebooks_begin_with(go: Go, magic: str) -> None:
    ran = go(cell(f"{magic}\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nx = 7"), cell("print(x)"))
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok", "ok"], text(ran.notebook)
    assert "7" in text(ran.notebook)
    drawn = [output for output in ran.notebook.cells[0].outputs if "image/png" in output.get("data", {})]
    assert bool(drawn) == (magic not in ("%matplotlib agg", USE.format("pdf")))  # windows are drawn inline


@pytest.mark.parametrize("line", [
    "if True:\n    from google.colab import drive", "if True: import google.colab as drive",
    "def mount():\n    from google.colab import (\n        drive,\n    )\n    return drive\ndrive = mount()",
    "é = 1; from google.colab import drive; drive.mount('/content')", "import google.colab; drive = google.colab.drive",
])  # fmt: skip
def test_colabs_own_modules_do_nothing_wherever_they_are_imported(go: Go, line: str) -> None:
    ran = go(cell(f"{line}\ndrive.mount('/content/drive')\nprint(6 * 7)"))
    assert ran.outcomes[0].visible.status == "ok" and "42" in text(ran.notebook), text(ran.notebook)


def test_a_cell_goes_on_behind_a_shell_command_and_shows_what_it_says(go: Go) -> None:
    ran = go(cell("!echo one two; echo three >&2; exit 3\nprint(_exit_code)"), cell("!echo {40 + 2} | tr 4 5"),
             cell("found = !echo seven\nprint(found)"), cell("%pip --version"))  # fmt: skip
    assert [outcome.visible.status for outcome in ran.outcomes] == ["ok"] * 4, text(ran.notebook)
    said = text(ran.notebook)
    assert "one two\nthree\n3\n52\n" in said and "['seven']" in said


def test_a_debugger_that_nobody_can_answer_does_nothing(go: Go) -> None:
    ran = go(cell("breakpoint()\nimport pdb\npdb.set_trace()\nprint(6 * 7)"))
    assert ran.outcomes[0].visible.status == "ok" and text(ran.notebook).strip() == "42"


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


#: A cell that fails in itself, in a library and in itself again, as text without colours.
SHOWN = """
import inspect, json, re, sys

def laid_out():
    def fails(values):
        return json.loads(values)
    try:
        fails("{")
    except ValueError:
        lines = get_ipython().InteractiveTB.structured_traceback(*sys.exc_info())
    return re.sub("\\x1b[^m]*m", "", "\\n".join(lines))
"""


def test_it_is_that_of_a_kernel_that_knows_nothing_of_its_cells(go: Go) -> None:
    forget = "inspect.modulesbyfile.clear(), inspect._filesbymodname.clear()"
    ran = go(cell(SHOWN), cell(f"print(laid_out())\n{forget}\nprint('|')\nprint(laid_out())"))
    first, second = text(ran.notebook).replace("\n|\n", "|").strip().split("|")
    assert "fails(values)" in first and "JSONDecodeError" in first and "json/__init__.py" in first
    assert first == second


def test_no_module_is_looked_at_for_the_lines_of_a_cell(go: Go) -> None:
    counted = """
looked = []
is_module = inspect.ismodule
inspect.ismodule = lambda value: looked.append(value) or is_module(value)
try:
    1 / 0
except ZeroDivisionError:
    get_ipython().InteractiveTB.structured_traceback(*sys.exc_info())
inspect.ismodule = is_module
print(len(sys.modules) > 500, len(looked) < 100)
"""
    assert text(go(cell(SHOWN), cell(counted)).notebook).split() == ["True", "True"]


Draw = Callable[[Figure], object]
#: name -> what draws into a new figure.
FLAT: dict[str, Draw] = {}
OTHER: dict[str, Draw] = {}


def flat(draw: Draw) -> Draw:
    return FLAT.setdefault(draw.__name__, draw)


def other(draw: Draw) -> Draw:
    return OTHER.setdefault(draw.__name__, draw)


@flat
def attention_weights(figure: Figure) -> None:
    figure.set_size_inches(5, 7)
    for panel in figure.subplots(2, 2).flat:
        image = panel.imshow(np.arange(16.0).reshape(4, 4), vmin=0)
        panel.set_xticks(range(4), ["[CLS]", "a", "##long", "[SEP]"], rotation=90)
        panel.set_ylabel("query")
        figure.colorbar(image, ax=panel, shrink=0.8)


@flat
def text_and_legend_outside(figure: Figure) -> None:
    axes = figure.subplots()
    axes.plot([1, 5, 2], label="loss")
    axes.legend(loc="upper left", bbox_to_anchor=(1.05, 1))
    axes.text(-0.4, 0.5, "outside", transform=axes.transAxes)
    axes.annotate("here", (1, 5), (3, 9), arrowprops={"arrowstyle": "->"}, annotation_clip=False)


@flat
def a_legend_where_there_is_room(figure: Figure) -> None:
    axes = figure.subplots()
    axes.hist([1, 1, 2, 5], label="count")
    axes.legend(loc="best")


@flat
def constrained(figure: Figure) -> None:
    figure.set_layout_engine("constrained")
    panels = figure.subplots(2, 2, sharex=True)
    figure.colorbar(next(panel.imshow([[1, 2], [3, 4]]) for panel in panels.flat), ax=panels)
    figure.suptitle("weights")
    figure.supxlabel("key")


@flat
def tight(figure: Figure) -> None:
    figure.set_layout_engine("tight")
    for panel in figure.subplots(2, 2).flat:
        panel.set_xlabel("a label that needs room")


@flat
def logarithmic_twins(figure: Figure) -> None:
    axes = figure.subplots()
    axes.loglog([1, 10, 1000], [1e-8, 3, 1e9])
    axes.twinx().plot([1, 1000], [1e6, 2e6])
    axes.inset_axes((0.8, 0.8, 0.5, 0.5)).plot([1, 2])


@flat
def pie_and_table(figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    left.pie([1, 2, 3], labels=["a", "a very long label of a piece", "c"], autopct="%d")
    right.axis("off")
    right.table([["1", "2"]], colLabels=["a long head", "b"], loc="center")


@flat
def boxes_and_contours(figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    left.boxplot([[1, 2, 3], [2, 3, 9]])
    left.set_xlabel("wrapped " * 30, wrap=True)
    figure.colorbar(right.contourf(np.arange(16.0).reshape(4, 4) ** 2))


@flat
def dates(figure: Figure) -> None:
    figure.subplots().plot(np.array(["2026-01-01", "2026-05-01"], dtype="datetime64"), [1e-9, 3e-9])
    figure.autofmt_xdate()


@flat
def words_alone(figure: Figure) -> None:
    figure.text(0.5, 0.5, "no axes")
    figure.add_artist(plt.Line2D([0, 1], [0, 1]))


@other
def large_markers(figure: Figure) -> None:
    figure.subplots().scatter([1, 2], [3, 4], s=900, clip_on=False)


@other
def polar(figure: Figure) -> None:
    figure.add_subplot(projection="polar").plot([1, 2, 3])


@other
def in_three_dimensions(figure: Figure) -> None:
    figure.add_subplot(projection="3d").plot([1, 2, 3], [1, 2, 3], [1, 2, 3])


@other
def figures_in_figures(figure: Figure) -> None:
    for part in figure.subfigures(1, 2):
        part.subplots().plot([1, 2])


def new(draw: Draw) -> Figure:
    figure = Figure()
    FigureCanvasAgg(figure)
    draw(figure)
    return figure


@pytest.mark.parametrize("draw", [*FLAT.values(), *OTHER.values()], ids=[*FLAT, *OTHER])
def test_the_picture_is_the_same_to_the_byte(draw: Draw) -> None:
    ours, stock = new(draw), new(draw)
    for _ in range(2):  # shown in two cells
        printed = warm_process.print_figure(ours)
        assert printed == warm_process._print_twice(stock)
        assert printed is None or printed.startswith(b"\x89PNG")


@pytest.mark.parametrize("how", [{"fmt": "svg"}, {"fmt": "pdf"}, {"fmt": "retina"}, {"bbox_inches": None}])
@pytest.mark.parametrize("name", ["attention_weights", "constrained"])
def test_it_is_the_same_in_every_format_and_without_the_tight_box(
    name: str, how: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # files of these formats say when they were made
    monkeypatch.setitem(plt.rcParams, "svg.hashsalt", "the same")
    printed = warm_process.print_figure(new(FLAT[name]), **how)
    assert printed == warm_process._print_twice(new(FLAT[name]), **how)
    assert len(printed) > 5000


@pytest.mark.parametrize("name", FLAT)
def test_flat_axes_are_drawn_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Axes] = []
    draw = Axes.draw

    def counted(axes: Axes, renderer: object) -> None:
        drawn.append(axes)
        draw(axes, renderer)  # type: ignore[arg-type]

    monkeypatch.setattr(Axes, "draw", counted)
    warm_process.print_figure(new(FLAT[name]))
    assert len(drawn) == len({id(axes) for axes in drawn})


def test_a_figure_that_cannot_be_drawn_raises_as_before_and_keeps_its_own_way_to_draw() -> None:
    figure = new(attention_weights)
    figure.axes[0].set_title("$\\frac$")  # no formula
    with pytest.raises(ValueError, match="frac"):
        warm_process.print_figure(figure)
    assert "draw" not in vars(figure)


def test_kernels_print_figures_so(go: Go) -> None:
    ran = go(cell("import IPython.core.pylabtools as shown; print(shown.print_figure.__module__)"))
    assert text(ran.notebook) == "autograder.kernel.warm_process\n"


def test_a_kernel_draws_a_figure_once_for_the_page_and_never_for_a_screen(go: Go) -> None:
    count = (
        "import matplotlib.pyplot as plt\nfrom matplotlib.axes import Axes\ndraw, drawn = Axes.draw, []\n"
        "Axes.draw = lambda axes, *rest: (drawn.append(axes), draw(axes, *rest))\nplt.plot([1, 2]);"
    )
    ran = go(cell(count), cell("print(len(drawn), plt.get_fignums())"))
    assert ran.notebook.cells[1].outputs[0].text == "1 []\n"
    assert "image/png" in ran.notebook.cells[0].outputs[0].data
