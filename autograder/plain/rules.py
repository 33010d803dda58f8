"""The kinds of tests that only work in the student's own kernel. Each rule gives the reason, or nothing.

The tester knows the student's values by what crosses between two processes (:mod:`autograder.remote`): arguments,
results, exceptions, printed text, changes in place. A test that reaches for more needs the student's process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from autograder.plain.dotted import full_name, root_name
from autograder.plain.names import is_look_up
from autograder.plain.process import reason_for, reason_for_attribute
from autograder.plain.view import PlainCell

#: Magics that set up a kernel and run no code of anybody's.
_SETTING_UP = {"matplotlib", "config", "precision", "load_ext", "autoreload", "pylab"}
#: Settings that concern what a module shows.
_HARMLESS = ("matplotlib.pyplot.rcParams", "matplotlib.rcParams", "pandas.options", "pandas.set_option")
#: What ``Path("...")`` is asked about a file that must be there.
_OF_PATHS = ("exists", "is_file", "is_dir", "read_text", "read_bytes", "open", "stat")
_HISTORY = re.compile(r"In|Out|_{1,3}|_i{1,3}|_\d+|_i\d+|_[iod]h")


def asked_for(cell: PlainCell) -> str | None:
    """The author's own word: a line ``# autograder: kernel``."""
    return "the line '# autograder: kernel' asks for it" if "kernel" in asked(cell.source) else None


def asked(source: str) -> list[str]:
    """What the lines ``# autograder: ...`` of a cell say."""
    return re.findall(r"(?m)^[ \t]*#+[ \t]*autograder[ \t]*:[ \t]*(.*?)[ \t]*$", source)


def uses_magics(cell: PlainCell) -> str | None:
    """Magics and shell lines are calls of ``get_ipython()`` here."""
    understood: set[int] = set()
    for node in cell.nodes(ast.Call):
        shell = node.func.value if isinstance(node.func, ast.Attribute) else None
        if not (isinstance(shell, ast.Call) and full_name(shell.func, {}) == "get_ipython"):
            continue
        assert isinstance(node.func, ast.Attribute)
        if node.func.attr in ("system", "getoutput"):
            return "it runs a shell command"
        if node.func.attr in ("run_line_magic", "run_cell_magic"):
            if _literal(node) not in _SETTING_UP:
                return f"it uses the magic %{_literal(node)}"
            understood.add(id(shell.func))
    alone = any(name == "get_ipython" and id(node) not in understood for name, node in cell.used)
    return "it uses get_ipython()" if alone else None


def reads_history(cell: PlainCell) -> str | None:
    read = sorted(name for name in cell.names.loaded - cell.names.bound if _HISTORY.fullmatch(name))
    return f"it reads IPython's history ({read[0]})" if read else None


def needs_the_process(cell: PlainCell) -> str | None:
    for name, node in cell.used:
        loads = not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load)
        if loads and (why := reason_for(name)):
            return f"{why} ({name})"
    for node in cell.nodes(ast.Attribute):
        if why := reason_for_attribute(node.attr):
            return f"{why} (.{node.attr})"
    return None


def follows_gradients(cell: PlainCell) -> str | None:
    """A tensor comes back without the computation behind it."""
    with_torch = any(full.partition(".")[0] == "torch" for full in cell.imported.values())
    asked = any(node.attr in ("backward", "grad_fn") for node in cell.nodes(ast.Attribute))
    follows = asked or any(name.startswith(("torch.autograd.", "torch.optim.")) for name, _ in cell.used)
    return "it follows gradients through the student's computation" if with_torch and follows else None


def imports_students_files(cell: PlainCell) -> str | None:
    modules = {name.partition(".")[0] for name in cell.imported.values()}
    found = sorted(modules & cell.deliverables)
    return f"it imports {found[0]}, which students write" if found else None


def patches(cell: PlainCell) -> str | None:
    for node in cell.nodes(ast.Call):
        name = full_name(node.func, cell.imported)
        if name in ("setattr", "delattr") and node.args and _is_module(cell, node.args[0]):
            return f"it changes {_shown(node.args[0], cell)} for the student's code too"
        if re.fullmatch(r"(unittest\.)?mock\.patch(\.\w+)*", name) and not _is_stream(node):
            return f"it patches names in the process in which the student's code runs ({name})"
        if name.endswith("catch_warnings") and any(keyword.arg == "record" for keyword in node.keywords):
            return "it records warnings, which stay in the student's process"
        if name.endswith(("simplefilter", "filterwarnings")) and _literal(node) == "error":
            return "it turns warnings into errors, which it can do in its own process only"
    return None


def _literal(call: ast.Call) -> object:
    return call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None


def _is_stream(call: ast.Call) -> bool:
    """``patch("sys.stdout", ...)``: printed text comes back with every call, so that it works."""
    return _literal(call) in ("sys.stdout", "sys.stderr")


def _is_module(cell: PlainCell, node: ast.AST) -> bool:
    return root_name(node) in cell.imported and full_name(node, cell.imported) not in ("sys.stdout", "sys.stderr")


def _shown(node: ast.AST, cell: PlainCell) -> str:
    return full_name(node, cell.imported) or root_name(node)


def _targets(cell: PlainCell) -> Iterator[ast.AST]:
    for node in cell.all_nodes:
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node


def assigns_into_modules(cell: PlainCell) -> str | None:
    for node in _targets(cell):
        if isinstance(node, ast.Subscript) and is_look_up(node.value):
            return "it writes into globals()"
        name = full_name(node.value if isinstance(node, ast.Subscript) else node, cell.imported)
        if not isinstance(node, ast.Name) and _is_module(cell, node) and not name.startswith(_HARMLESS):
            return f"it changes {name} for the student's code too"
    return None


def rebinds(cell: PlainCell) -> str | None:
    if gone := sorted(cell.names.deleted & cell.students):
        return f"it deletes the student's '{gone[0]}'"
    changed = sorted((cell.names.bound - cell.names.imported) & cell.read_later)
    return f"it gives '{changed[0]}' another value, which the student's functions read" if changed else None


def looks_names_up(cell: PlainCell) -> str | None:
    """``globals()`` and the like, but to look for one name of which the text stands in the cell."""
    fine: set[int] = set()
    for node in cell.all_nodes:
        if isinstance(node, ast.Compare):
            fine |= {id(one) for one in node.comparators}
        elif isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in ("get", "keys")):
            fine.add(id(node.value))
        elif isinstance(node, ast.Call) and full_name(node.func, {}) == "set":
            fine |= {id(one) for one in node.args}
    for node in cell.all_nodes:
        if is_look_up(node) and id(node) not in fine:
            return "it goes through all names of the notebook"
    return None


def builds_on_students_classes(cell: PlainCell) -> str | None:
    for node in cell.nodes(ast.ClassDef):
        for base in (*node.bases, *(keyword.value for keyword in node.keywords)):
            if cell.is_students(base):
                return f"its class {node.name} derives from the student's {root_name(base)}"
    for made in (*cell.nodes(ast.ClassDef), *cell.nodes(ast.FunctionDef)):
        assert isinstance(made, ast.ClassDef | ast.FunctionDef)
        for decorator in made.decorator_list:
            if cell.is_students(decorator):
                return f"it decorates {made.name} with the student's {root_name(decorator)}"
    return None


def awaits(cell: PlainCell) -> str | None:
    awaited = any(isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) for node in cell.all_nodes)
    return "it awaits what runs in the student's event loop" if awaited else None


def works_on_files(cell: PlainCell) -> str | None:
    for node in cell.nodes(ast.Call):
        name = full_name(node.func, cell.imported)
        if name in ("open", "io.open") and _mode(node):
            return "it writes a file, and the student's code works in a folder of its own (open)"
        reads = name in ("open", "io.open", "os.path.exists", "os.path.isfile", "os.path.getsize", "numpy.load")
        owner = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_PATHS else None
        if isinstance(owner, ast.Call) and full_name(owner.func, cell.imported) == "pathlib.Path":
            node, reads = owner, True
        if reads or name in ("pandas.read_csv", "numpy.loadtxt", "numpy.genfromtxt"):
            path = _literal(node)
            if isinstance(path, str) and path.removeprefix("./") not in cell.files and path not in (".", ""):
                return f"it reads {path}, which is not one of the assignment's files: the student's code writes it"
    return None


def _mode(call: ast.Call) -> bool:
    """Whether a file is opened for writing, or in a way that only shows when it runs."""
    given = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(not isinstance(mode, ast.Constant) or set(str(mode.value)) & set("wax+") for mode in given)


RULES: tuple[Callable[[PlainCell], str | None], ...] = (
    asked_for,
    uses_magics,
    reads_history,
    imports_students_files,
    builds_on_students_classes,
    rebinds,
    patches,
    looks_names_up,
    assigns_into_modules,
    needs_the_process,
    follows_gradients,
    awaits,
    works_on_files,
)
