"""The fork server: a process that has imported everything and forks a kernel for each notebook.

It has one thread, has run no tensor operation (a child of one that had would hang in its first matrix product), and
holds no secret: no reference, no source notebook. Graders ask over a socket that it inherits, and it ends with theirs.
"""

import contextlib
import gc
import importlib
import importlib.abc
import importlib.util
import io
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from IPython.core import pylabtools
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import activate_matplotlib

from autograder.isolation import Policy, prepare, supervise
from autograder.kernel.application import prepare_kernel, prepare_shell, run_kernel, run_shell
from autograder.kernel.launch import Launch
from autograder.tester.process import prepare_outputs

#: What every kernel needs, in this order. What cannot be imported is left to the notebooks to miss.
EVERY_KERNEL = (
    "numpy", "numpy.random", "numpy.testing", "safetensors.numpy", "encodings.idna", "faulthandler",
    "tornado.platform.asyncio",
    "ipykernel.ipkernel", "ipykernel.zmqshell", "ipykernel.debugger", "pdb", "IPython.display", "IPython.core.debugger",
    "IPython.core.oinspect", "IPython.core.completerlib", "IPython.core.logger", "IPython.extensions.storemagic",
    "IPython.core.magics.execution", "stack_data", "executing", "pure_eval", "pygments.formatters.terminal256",
    "autograder.testing", "autograder.tester.serve", "autograder.tester.process",
)  # fmt: skip

#: What kernels need besides where notebooks draw.
PICTURES = (
    "matplotlib", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib_inline.backend_inline",
    "PIL.PngImagePlugin", "PIL.BmpImagePlugin", "PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.PpmImagePlugin",
    "tqdm.auto",
)  # fmt: skip

_MAX_REQUEST = 1 << 20
_LOOK_FOR_PARENT = 2.0  # seconds
_NOTHING_TO_DO = 0.05  # seconds without a request


def main(descriptor: int, listening: int, modules: Sequence[str], pictures: bool) -> None:
    """Say on the inherited socket that all is ready, then fork for whoever connects, until the grader is gone.

    modules: what the course wants imported beforehand; pictures: whether its notebooks draw.
    """
    parent = os.getppid()
    missing = warm_up(modules, pictures)
    channel, listener = socket.socket(fileno=descriptor), socket.socket(fileno=listening)
    threads = len(os.listdir("/proc/self/task"))
    channel.send(json.dumps({"missing": missing, "threads": threads}).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors report to the grader; nobody waits for them here
    wait = _NOTHING_TO_DO
    while os.getppid() == parent:
        ready, _, _ = select.select([channel, listener], [], [], wait)
        if channel in ready:
            return  # closed: nothing is ever said on it
        if not ready and wait != _LOOK_FOR_PARENT:
            wait = _LOOK_FOR_PARENT
            _lay_out_a_traceback()
        if listener in ready:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                request, descriptors, _, _ = socket.recv_fds(connection, _MAX_REQUEST, 2)
                if len(descriptors) == 2:
                    _fork(request, *descriptors)


def warm_up(modules: Sequence[str], pictures: bool) -> list[str]:
    """Do once what every child would do again; the names of what could not be imported."""
    missing = _import_all((*modules, *(PICTURES if pictures else ()), *EVERY_KERNEL))
    if pictures:
        _draw_once()
        print_once()
    shell = prepare_shell()
    _show_figures(shell)
    prepare_kernel(shell)
    for name in ("pdb", "IPython.core.debugger"):  # breakpoint() asks the first: nobody is there to debug
        sys.modules[name].set_trace = lambda *_, **__: None  # type: ignore[attr-defined]
    prepare_outputs()
    shell.run_cell("None", silent=True)  # what a first cell looks up and compiles is the same for every cell after it
    prepare()
    gc.freeze()  # a child that collects garbage must not copy every page that it looks at
    gc.enable()  # off until here: importing makes no garbage
    return missing


def _lay_out_a_traceback() -> None:
    """One error, shown to nobody: for the first, IPython looks up the file of every module, and makes its colours."""
    try:
        exec(compile("def fails():\n    raise ValueError\nfails()", "<cell>", "exec"), {})
    except ValueError:
        InteractiveShell.instance().InteractiveTB.structured_traceback(*sys.exc_info())
    gc.collect()
    gc.freeze()


def _draw_once() -> None:
    """One picture with every kind of text, thrown away: fonts are looked up here, and not in every kernel again."""
    with contextlib.suppress(ImportError):
        from matplotlib.backends import backend_registry
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        panel = figure.subplots()
        image = panel.imshow([[0.0, 1.0], [1.0, 0.0]])
        panel.set_title("layer 0")
        panel.set_xticks([0, 1], ["[CLS]", "##s"], rotation=90)
        panel.text(0, 0, r"$\alpha$ bold", weight="bold", style="italic", family="monospace")
        figure.colorbar(image)
        FigureCanvasAgg(figure).print_png(io.BytesIO())
        backend_registry.list_all()  # looks through every installed package


class _Inline(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The inline figures in the place of matplotlib's backends that open windows, however one was chosen."""

    _paper = ("agg", "cairo", "mixed", "pdf", "pgf", "ps", "svg", "template")

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        kind = name.removeprefix("matplotlib.backends.backend_")
        return None if kind == name or kind in self._paper else importlib.util.spec_from_loader(name, self)

    def exec_module(self, module: ModuleType) -> None:
        inline = vars(importlib.import_module("matplotlib_inline.backend_inline"))
        vars(module).update({name: value for name, value in inline.items() if not name.startswith("__")})


def _show_figures(shell: InteractiveShell) -> None:
    """Tie matplotlib's inline figures to the shell, as its import does where there is a shell already.

    The hook that shows and closes a cell's figures is registered first. pyplot's own hook, which draws open figures
    for a screen, then finds none. There is no screen: what would open a window on one is drawn inline.
    """
    sys.meta_path.insert(0, _Inline())
    screen: Any = shell
    enable = screen.enable_matplotlib
    screen.enable_matplotlib = lambda gui=None: enable(gui if gui in (None, "agg") else "inline")
    screen.enable_gui = lambda *_: None
    if "matplotlib_inline.backend_inline" in sys.modules:
        backend = os.environ["MPLBACKEND"]
        sys.modules["matplotlib_inline.backend_inline"].configure_inline_support(shell, backend)
        activate_matplotlib(backend)


def _import_all(modules: Sequence[str]) -> list[str]:
    missing = []
    # Half of a kernel's start would go into a debugger that nobody can attach to.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    return missing


def _fork(request: bytes, descriptor: int, line: int) -> None:
    if os.fork():
        os.close(descriptor)
        os.close(line)
        return
    asked = json.loads(request)
    launch = Launch(**asked["launch"])
    sys.argv[:] = ["ipykernel"]
    main = partial(run_kernel if launch.connection_file else run_shell, launch)
    channel, end = (socket.socket(fileno=one) for one in (descriptor, line))
    supervise(channel, Policy.from_json(asked["policy"]), main, end)


# Figures as Jupyter prints them, drawn once: the same picture in less time.
# For Jupyter's tight box, matplotlib draws every figure twice, the first time on nothing, only to learn where all lies.
# Flat axes know that without having been drawn.

_print_twice = pylabtools.print_figure


def print_once() -> None:
    """Let the shell of this process print figures so, from now on."""
    pylabtools.print_figure = print_figure


def print_figure(fig: Any, fmt: Any = "png", bbox_inches: Any = "tight", base64: Any = False, **kwargs: Any) -> Any:
    """As :func:`IPython.core.pylabtools.print_figure`, which it calls; arguments and value are the same."""
    if bbox_inches != "tight" or not _knows_its_places(fig):  # without the tight box it is drawn once anyway
        return _print_twice(fig, fmt, bbox_inches, base64, **kwargs)

    def arrange(renderer: object) -> None:
        del fig.draw  # from now on it draws
        engine = fig.get_layout_engine()
        if fig.axes and engine is not None:
            with contextlib.suppress(ValueError):  # as matplotlib does: the figure is printed without a layout
                engine.execute(fig)

    fig.draw = arrange
    try:
        return _print_twice(fig, fmt, bbox_inches, base64, **kwargs)
    finally:
        vars(fig).pop("draw", None)


def _knows_its_places(fig: Any) -> bool:
    """Whether drawing moves nothing: all axes are flat, and no marker gets its size by being drawn."""
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

    if type(fig) is not Figure or "draw" in vars(fig) or fig.subfigs:
        return False
    return all(
        type(axes) is Axes and not any(isinstance(one, PathCollection) for one in axes.collections) for axes in fig.axes
    )
