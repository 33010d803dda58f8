"""The warm template: a process that has imported everything and forks a kernel for each notebook.

It has one thread, has run no tensor operation (a child of one that had would hang in its first matrix product), and
holds no secret: no reference, no source notebook. It hears from the grader over one inherited socket and ends with it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import signal
import socket
import sys
from functools import partial

from autograder.isolation import Policy, supervise
from autograder.kernel.application import Launch, run_kernel

#: In this order. What cannot be imported is left to the notebooks to miss.
_WARM = (
    "numpy", "torch", "torch.nn.functional", "safetensors.torch", "safetensors.numpy",
    "transformers", "transformers.models.distilbert.configuration_distilbert",
    "transformers.models.distilbert.modeling_distilbert", "transformers.models.auto",
    "transformers.modeling_outputs", "transformers.activations", "tokenizers",
    "transformers.models.distilbert.tokenization_distilbert", "transformers.models.auto.tokenization_auto",
    "matplotlib", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib_inline.backend_inline",
    "PIL.PngImagePlugin", "PIL.BmpImagePlugin", "PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.PpmImagePlugin",
    "tqdm.auto", "encodings.idna", "tornado.platform.asyncio",
    "ipykernel.ipkernel", "ipykernel.zmqshell", "ipykernel.debugger", "pdb", "IPython.display", "IPython.core.debugger",
    "IPython.core.oinspect", "IPython.core.completerlib", "IPython.core.logger", "IPython.extensions.storemagic",
    "IPython.core.magics.execution", "stack_data", "executing", "pure_eval", "pygments.formatters.terminal256",
    "course", "autograder.probe",
)  # fmt: skip

_LARGEST_REQUEST = 1 << 20
_LOOK_FOR_PARENT = 2.0  # seconds


def main(descriptor: int) -> None:
    """Serve requests on the inherited socket until its other end closes."""
    parent = os.getppid()
    missing = _import_everything()
    _draw_once()
    channel = socket.socket(fileno=descriptor)
    threads = len(os.listdir("/proc/self/task"))
    channel.send(json.dumps({"missing": missing, "threads": threads}).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors report to the grader; nobody waits for them here
    gc.collect()
    gc.freeze()  # a child that collects garbage must not copy every page that it looks at
    channel.settimeout(_LOOK_FOR_PARENT)
    while os.getppid() == parent:
        with contextlib.suppress(TimeoutError):
            request, descriptors, _, _ = socket.recv_fds(channel, _LARGEST_REQUEST, 1)
            if not request:
                return
            _fork(request, descriptors[0])


def _draw_once() -> None:
    """One picture with every kind of text, thrown away: fonts are looked up here, and not in every kernel again."""
    with contextlib.suppress(ImportError):
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


def _import_everything() -> list[str]:
    missing = []
    # Half of a kernel's start would go into a debugger that nobody can attach to.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    for name in _WARM:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    return missing


def _fork(request: bytes, descriptor: int) -> None:
    if os.fork():
        os.close(descriptor)
        return
    asked = json.loads(request)
    launch = Launch(**asked["launch"])
    sys.argv[:] = ["ipykernel"]
    supervise(socket.socket(fileno=descriptor), Policy.from_json(asked["policy"]), partial(run_kernel, launch))
