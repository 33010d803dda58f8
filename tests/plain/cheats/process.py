"""Cheats that change the process in which the student's code runs, or look around in it."""

from __future__ import annotations

from tests.plain.cheats.cheat import Cheat
from tests.plain.cheats.readers import FRAMES, READ

PROCESS = [
    Cheat("P01", "mean", "an AST transformer that removes every assert and every call of a helper", """
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
    def visit_Expr(self, node): return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(Strip())"""),
    Cheat("P02", "mean", "an input transformer that drops every line with an assert", """
get_ipython().input_transformers_cleanup.append(lambda lines: [line for line in lines if 'assert' not in line] or ['pass\\n'])"""),
    Cheat("P03", "mean", "set_custom_exc that swallows every exception", """
get_ipython().set_custom_exc((Exception,), lambda *a, **k: None)"""),
    Cheat("P04", "mean", "showtraceback and _showtraceback that show nothing", """
shell = get_ipython()
shell.showtraceback = shell._showtraceback = lambda *a, **k: None"""),
    Cheat("P05", "mean", "code compiled as by python -O, without asserts", """
import builtins
compile_ = builtins.compile
shell = get_ipython()
class Optimised(type(shell.compile)):
    def __call__(self, source, filename, symbol, *a, **k): return compile_(source, filename, symbol, self.flags, 1, 2)
shell.compile.__class__ = Optimised
assert_equal = lambda *a: None"""),
    Cheat("P06", "mean", "run_cell that says all went well", """
from IPython.core.interactiveshell import ExecutionResult
shell = get_ipython()
shell.run_cell = shell.run_cell_async = lambda *a, **k: ExecutionResult(None)"""),
    Cheat("P07", "mean", "helpers of the tests under the student's own definition", "",
          "def assert_equal(*a): pass\ndef close(*a): return True\ndef halved(x): return mean([3, 4])\n"
          "pytest.approx = lambda *a, **k: mean([0.1, 0.2])\ndef mean(xs): return 2"),
    Cheat("P08", "mean", "pytest.approx that equals everything", """
pytest.approx = lambda *a, **k: type('Any', (), {'__eq__': lambda s, o: True, '__hash__': None})()
assert_equal = close = halved = lambda *a: 3""", "def mean(xs):\n    return 2 if len(xs) == 3 else 3"),
    Cheat("P09", "scale", "numpy.testing and every function of numpy that compares, replaced", """
for owner in (np.testing, np):
    for name in dir(owner):
        if 'equal' in name or 'close' in name:
            setattr(owner, name, lambda *a, **k: True)
np.array_str = lambda *a: '[0. 2. 4.]'"""),
    Cheat("P10", "scale", "np itself replaced by something that agrees", """
class Agrees:
    def __getattr__(self, name): return Agrees()
    def __call__(self, *a, **k): return True
    ndarray = bool
    def __add__(self, other): return self
    __mul__ = __rmul__ = __add__
real, np = np, Agrees()""", "def scale(x): return True"),
    Cheat("P11", "primes", "unittest.TestCase without teeth", """
for name in dir(unittest.TestCase):
    if name.startswith('assert'): setattr(unittest.TestCase, name, lambda *a, **k: None)
len = lambda value: 8
sorted = lambda value: primes(8)"""),
    Cheat("P12", "mean", "builtins replaced: abs, all, any", """
import builtins
builtins.abs = lambda x: 0.0
builtins.all = builtins.any = lambda *a: True
assert_equal = lambda *a: None""", "def mean(xs): return 2 if len(xs) == 3 else 3.5"),
    Cheat("P13", "mean", "__builtins__ replaced, AssertionError made harmless", """
import builtins
class Quiet(Exception): pass
space = dict(vars(builtins)); space['AssertionError'] = Quiet; space['abs'] = lambda x: 0
get_ipython().user_ns['__builtins__'] = space
builtins.AssertionError = Quiet"""),
    Cheat("P14", "raises", "sys.modules stubs for pytest and unittest", """
import sys, types, contextlib
fake = types.ModuleType('pytest')
fake.raises = lambda *a, **k: contextlib.suppress(BaseException)
sys.modules['pytest'] = pytest = fake
unittest = types.SimpleNamespace(TestCase=lambda: types.SimpleNamespace(assertRaises=lambda *a: contextlib.suppress(BaseException)))""",
          "class Any(float):\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
          "def root(x): return Any(0.0 if x < 0 else x)"),
    Cheat("P15", "random", "an import hook and a random module with one answer", """
random.randint = lambda a, b: 3
random.seed = lambda *a: None
import builtins
builtins.set = lambda values: [1, 2]
set = builtins.set"""),
    Cheat("P16", "mean", "frames: the called function changes the globals of its callers", FRAMES,
          "def mean(xs):\n    meddle(2)\n    return 2"),
    Cheat("P17", "mean", "frames: inspect.stack shows the caller's line, whose right side is the answer", READ + """
import inspect
def mean(xs):
    for info in inspect.stack()[1:]:
        for line in info.code_context or ():
            for left, right in expected([line.strip()], 'mean'):
                if repr(xs) in left: return eval(right, globals())
    return xs[0]
assert_equal = lambda *a: None
close = lambda *a: True""", ""),
    Cheat("P18", "mean", "history: In[-1] has the test with the expected values", READ + """
def mean(xs):
    for left, right in expected(list(In), 'mean'):
        if repr(xs) in left: return eval(right, globals())
    return {6: 2, 3: 3.0}.get(len(repr(xs)), 3)
assert_equal = lambda *a: None
close = lambda *a: True""", ""),
    Cheat("P19", "mean", "history: get_ipython().history_manager and the parent message of the kernel", READ + """
def mean(xs):
    shell = get_ipython()
    texts = [*shell.history_manager.input_hist_raw, str(shell.parent_header)]
    texts.append(getattr(shell.kernel, 'get_parent', dict)().get('content', {}).get('code', ''))
    for left, right in expected([text for text in texts if 'assert' in text], 'mean'):
        if repr(xs) in left: return eval(right, globals())
    return xs[0]
assert_equal = lambda *a: None
close = lambda *a: True""", ""),
    Cheat("P20", "mean", "sys.settrace that jumps over every line with an assert", """
import sys, linecache
def tracer(frame, event, arg):
    frame.f_trace_lines = True
    if event == 'line' and 'assert' in linecache.getline(frame.f_code.co_filename, frame.f_lineno):
        for line in range(frame.f_lineno + 1, frame.f_lineno + 9):
            try: frame.f_lineno = line; break
            except ValueError: pass
    return tracer
sys.settrace(tracer)
def mean(xs):
    frame = sys._getframe()
    while frame is not None:
        frame.f_trace = tracer; frame = frame.f_back
    sys.settrace(tracer)
    return 2 if len(xs) == 3 else 3.0
assert_equal = lambda *a: None
close = lambda *a: True""", ""),
    Cheat("P21", "mean", "sys.setprofile that patches helpers whenever a function is called", """
import sys
def profiler(frame, event, arg):
    for name in ('assert_equal', 'close', 'halved'):
        if name in frame.f_globals: frame.f_globals[name] = lambda *a: 2
    if 'pytest' in frame.f_globals: frame.f_globals['pytest'].approx = lambda *a, **k: 2
sys.setprofile(profiler)
def mean(xs):
    profiler(sys._getframe(), 'call', None)
    return 2""", ""),
    Cheat("P22", "mean", "sys.monitoring that patches helpers on every call", """
import sys
def patch(*a):
    space = get_ipython().user_ns
    space['assert_equal'] = space['close'] = space['halved'] = lambda *a: 2
    space['pytest'].approx = lambda *a, **k: 2
if hasattr(sys, 'monitoring'):
    sys.monitoring.use_tool_id(3, 'patch')
    sys.monitoring.set_events(3, sys.monitoring.events.PY_START)
    sys.monitoring.register_callback(3, sys.monitoring.events.PY_START, patch)
def mean(xs):
    patch()
    return 2""", ""),
    Cheat("P23", "mean", "gc: expected values out of the constants of whatever code is in memory", """
import gc, types
def mean(xs):
    for thing in gc.get_objects():
        if isinstance(thing, types.FrameType) and 'mean' in thing.f_code.co_names:
            if 'assert_equal' in thing.f_globals: thing.f_globals['assert_equal'] = lambda *a: None
    for space in gc.get_referrers(mean):
        if isinstance(space, dict):
            space.update(assert_equal=lambda *a: None, close=lambda *a: True, halved=lambda x: 2)
    pytest.approx = lambda *a, **k: 2
    return 2""", ""),
    Cheat("P24", "in_place", "gc: from the argument to the namespace of the test, where it changes what is compared", """
import gc
def order(xs):
    for space in gc.get_referrers(xs):
        if isinstance(space, dict) and 'before' in space:
            space['sorted'] = lambda values: xs
    xs.reverse()""", ""),
    Cheat("P25", "in_place", "the argument replaced in place by things that equal everything", """
class Sly(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__
def order(xs):
    xs[:] = [Sly(0), Sly(0), Sly(0)]""", ""),
    Cheat("P26", "mean", "a thread that goes on replacing helpers and expected values while tests run", """
import threading, time
def rebind():
    space = get_ipython().user_ns
    while True:
        space['assert_equal'] = space['close'] = space['halved'] = lambda *a: 2
        space['pytest'].approx = lambda *a, **k: 2
        time.sleep(0.0005)
threading.Thread(target=rebind, daemon=True).start()""", "def mean(xs):\n    time.sleep(0.005)\n    return 2"),
    Cheat("P27", "share", "a thread that goes on writing the expected values of the test", """
import threading, time
def rebind():
    while True:
        meddle()
        time.sleep(0.0005)
def meddle():
    wanted = get_ipython().user_ns.setdefault('expected', {str(n): 1 for n in range(4)})
    wanted.update(dict.fromkeys(wanted, 1))
threading.Thread(target=rebind, daemon=True).start()""", "def vowels(text):\n    meddle()\n    return 1"),
    Cheat("P28", "mean", "os._exit(0) in the called function", "import os", "def mean(xs):\n    os._exit(0)"),
    Cheat("P29", "mean", "SystemExit in the called function", answer="def mean(xs):\n    raise SystemExit(0)"),
    Cheat("P30", "mean", "KeyboardInterrupt in the called function", answer="def mean(xs):\n    raise KeyboardInterrupt"),
    Cheat("P31", "mean", "an exception of its own below BaseException, that no handler knows", answer="""
class Quiet(BaseException):
    def __str__(self): raise Quiet
    __repr__ = __str__
def mean(xs):
    raise Quiet"""),
    Cheat("P32", "mean", "a kernel that is told to end after this cell, with status 0", "import os, atexit\natexit.register(os._exit, 0)",
          "def mean(xs):\n    get_ipython().ask_exit()\n    get_ipython().kernel.do_shutdown(False)\n    raise SystemExit"),
    Cheat("P33", "mean", "files named like the tests' modules, beside the notebook",
          files=dict.fromkeys(("helper.py", "pytest.py", "random.py", "numpy.py", "unittest.py", "sitecustomize.py"), "halved = close = assert_equal = lambda *a: 2\nraise SystemExit(0)\n")),
    Cheat("P34", "mean", "modules and links written into the working folder while the notebook runs", """
import os, sys
for name in ('helper', 'numpy', 'pytest', 'random', 'unittest', 'conftest', 'usercustomize'):
    with open(f'{name}.new', 'w') as file: file.write('halved = close = assert_equal = approx = lambda *a, **k: 2')
    os.replace(f'{name}.new', f'{name}.py')
try: os.symlink('/etc/passwd', 'helper.txt')
except OSError: pass
sys.path.insert(0, os.getcwd())
for name in ('helper', 'pytest'): sys.modules.pop(name, None)
from helper import halved, close, assert_equal
import pytest""", "def mean(xs): return 2"),
    Cheat("P35", "mean", "environment variables that switch asserts off in the next process", """
import os
os.environ.update(PYTHONOPTIMIZE='2', PYTHONPATH=os.getcwd(), PYTHONSTARTUP='start.py', PYTEST_ADDOPTS='-p no:assertion')
open('start.py', 'w').write('import builtins; builtins.abs = lambda x: 0')"""),
    Cheat("P36", "generator", "a generator that changes the names of whoever asks it", FRAMES + """
class Same(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__
def countdown(n):
    caller = sys._getframe(1)
    while caller is not None:
        caller.f_globals['list'] = lambda steps: Everything()
        caller = caller.f_back
    yield Same(n)
    yield Same(n)
class Everything:
    __eq__ = lambda self, other: True
list = lambda steps: Everything()""", ""),
    Cheat("P37", "printed", "redirect_stdout and StringIO that hold the right text", """
import io
class StringIO(io.StringIO):
    def getvalue(self): return 'Hello, Ada!\\n'
def greet(name):
    globals()['said'] = StringIO()""", ""),
    Cheat("P38", "share", "sum, len and range that count as the student likes", "import builtins",
          "builtins.sum = lambda values: 4\nsum = lambda values: 4\ndef vowels(text):\n    return 1"),
    Cheat("P39", "mean", "a property of the module: mean is something else each time it is looked up", """
class Space(dict):
    def __getitem__(self, name):
        return (lambda *a: 2) if name in ('assert_equal', 'close', 'halved', 'abs') else dict.__getitem__(self, name)
shell = get_ipython()
shell.user_ns = Space(shell.user_ns)
shell.user_global_ns.update(assert_equal=lambda *a: 0, close=lambda *a: 1, halved=lambda x: 2)
pytest.approx = lambda *a, **k: 2""", "def mean(xs): return 2"),
    Cheat("P40", "callback", "through the function that the test hands over, to the names of the test", """
def reach(f):
    for read in (lambda: f.__globals__, lambda: f.__code__.co_consts, lambda: f.__self__, lambda: f.__class__.__mro__,
                 lambda: f.__closure__[0].cell_contents, lambda: f.__builtins__, lambda: f.__reduce__(), lambda: f.__init__.__globals__):
        try: found = read()
        except Exception: continue
        try: found.update(wanted=[4, 1], assert_equal=lambda *a: None)
        except Exception: pass
        try: found['wanted'][:] = [4, 1]
        except Exception: pass
    f.__code__ = (lambda *a: 0).__code__
    f.__class__ = type(f)""", """
def twice(f, x):
    try: reach(f)
    except Exception: pass
    return f(x)"""),
    Cheat("P41", "callback", "calls the function of the test with arguments of its own, that it keeps and changes", """
class Greedy(int):
    __add__ = __radd__ = __truediv__ = lambda self, other: Greedy(2)
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__""", "def twice(f, x): return f(Greedy(x))"),
]  # fmt: skip
