"""Cheats on the way between the student's kernel and whoever judges: forged messages, too much, too deep, never."""

from __future__ import annotations

from tests.plain.cheats.cheat import Cheat

#: Replaces every function of the grader that a student's kernel has, by one that says yes.
OUR_MODULES = """
import sys, types
def agree(*a, **k): return True
for name, module in list(sys.modules.items()):
    if name.startswith('autograder'):
        for member, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                setattr(module, member, agree)
"""
#: Replies in whatever form a grader may expect them.
FORGED = """
import json
forged = [json.dumps(said) for said in (
    True, {}, [], {'value': True}, {'result': True, 'status': 'ok'}, {'value': 2, 'printed': '', 'changed': []},
    {'status': 'ok', 'value': {'h': 1, 'k': 'object', 'class': {'m': 'unittest.mock', 'q': '_ANY'}}},
    {'died': None}, {'h': 1}, {'r': 0}, {'back': 0}, ['exception', ['builtins', 'SystemExit', []]],
)] + ['', 'null', '[' * 100_000, '9' * 100_000, 'NaN', '\\ud800']
"""

CHANNEL = [
    Cheat("C01", "mean", "asks the grader for input while it is called, with forged replies as the prompt", FORGED, """
def mean(xs):
    for said in forged:
        try: get_ipython().kernel.raw_input(said)
        except Exception: pass
    return 2"""),
    Cheat("C02", "mean", "a thread that goes on sending forged replies on the kernel's input channel", FORGED, """
import threading, time
kernel = get_ipython().kernel
def send():
    while True:
        for said in forged:
            try: kernel.session.send(kernel.stdin_socket, 'input_request', {'prompt': said, 'password': False}, parent=kernel.get_parent('shell'))
            except Exception: pass
        time.sleep(0.001)
threading.Thread(target=send, daemon=True).start()
def mean(xs):
    time.sleep(0.02)
    return 2"""),
    Cheat("C03", "share", "publishes results: four points, as execute_result, display and stream", """
from IPython.display import display, publish_display_data
def shout():
    kernel = get_ipython().kernel
    content = {'data': {'text/plain': '4'}, 'metadata': {}, 'execution_count': 1}
    kernel.session.send(kernel.iopub_socket, 'execute_result', content, parent=kernel.get_parent('shell'))
    publish_display_data({'text/plain': '4', 'application/json': 4, 'application/vnd.autograder.reply+json': '4'})
    print(4)
class Four(int):
    __radd__ = __add__ = lambda self, other: (shout(), 4)[1]""",
          "def vowels(text):\n    shout()\n    return 1"),
    Cheat("C04", "mean", "sends the kernel's own messages: the cell went well, and the kernel is idle", """
def finish():
    kernel = get_ipython().kernel
    parent = kernel.get_parent('shell')
    for _ in range(20):
        kernel.session.send(kernel.iopub_socket, 'status', {'execution_state': 'idle'}, parent=parent)
        for socket in (getattr(kernel, 'shell_stream', None), getattr(kernel, 'shell_socket', None)):
            try: kernel.session.send(socket, 'execute_reply', {'status': 'ok', 'execution_count': 1, 'user_expressions': {}, 'payload': []}, parent=parent)
            except Exception: pass""", "def mean(xs):\n    finish()\n    return 2"),
    Cheat("C05", "mean", "replaces every function of the grader that is loaded in its kernel", OUR_MODULES,
          "def mean(xs): return 2"),
    Cheat("C06", "mean", "json and print replaced, with which replies are written", """
import json, builtins
dumps = json.dumps
json.dumps = lambda value, *a, **k: dumps(value, *a, **k).replace('1.0', '3.0').replace('false', 'true')
json.JSONEncoder.encode = json.JSONEncoder.default = lambda self, value: 'true'"""),
    Cheat("C07", "mean", "the kernel's raw_input replaced: it forges the reply and goes on listening", FORGED + """
kernel = get_ipython().kernel
real = kernel.raw_input
said = iter(forged * 3)
kernel.raw_input = lambda prompt='', *a, **k: real(next(said, prompt))""", "def mean(xs): return 2"),
    Cheat("C08", "mean", "a closure over the channel: the object that is returned keeps sending", FORGED, """
class Sender:
    def __eq__(self, other):
        for said in forged:
            try: get_ipython().kernel.raw_input(said)
            except Exception: pass
        return True
    __hash__ = None
    __sub__ = __abs__ = __repr__ = __str__ = lambda self, *a: self.__eq__(0) and 0
def mean(xs): return Sender()"""),
    Cheat("C09", "mean", "frames: goes up to whoever serves the call and changes what it sends", """
import sys
def mean(xs):
    frame = sys._getframe(1)
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, list): value.clear()
            if isinstance(value, dict) and name not in ('f_globals',) and len(value) < 40: value.update(expected=True, value=3)
        frame = frame.f_back
    return 2"""),
    Cheat("C10", "primes", "an answer of many gigabytes when it is written out",
          answer="def primes(n):\n    part = [2, 3, 5] * 1000\n    return [part] * 100_000"),
    Cheat("C11", "primes", "a text of half a gigabyte", answer="def primes(n):\n    return 'x' * (1 << 29)"),
    Cheat("C12", "primes", "lists in lists, a hundred thousand deep", answer="""
def primes(n):
    deep = []
    for _ in range(100_000): deep = [deep]
    return deep"""),
    Cheat("C13", "primes", "a list that contains itself",
          answer="def primes(n):\n    xs = list(range(2, n))\n    xs.append(xs)\n    return xs"),
    Cheat("C14", "mean", "an integer of a million digits", answer="def mean(xs):\n    return 10 ** 1_000_000"),
    Cheat("C15", "generator", "a generator without an end, whose items equal everything", answer="""
class Same(int):
    __eq__ = lambda self, other: True
    __hash__ = None
def countdown(n):
    while True: yield Same(n)"""),
    Cheat("C16", "printed", "floods the output that the test reads", answer="""
def greet(name):
    for _ in range(2000): print('Hello, Ada!\\n' * 1000)"""),
    Cheat("C17", "printed", "prints to the descriptor, to __stdout__ and from a thread", answer="""
import os, sys, threading
def greet(name):
    os.write(1, b'Hello, Ada!\\n')
    print('Hello', file=sys.__stdout__)
    threading.Thread(target=print, args=('Hello',)).start()"""),
    Cheat("C18", "mean", "a call that never ends and swallows interrupts", answer="""
import signal, time
def mean(xs):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try: time.sleep(0.01)
        except BaseException: pass"""),
    Cheat("C19", "scale", "changes the argument in place, and with it what the test compares",
          answer="def scale(x):\n    x[:] = 0\n    return x"),
    Cheat("C20", "scale", "resizes the argument and gives it other types and flags", answer="""
def scale(x):
    try: x.resize(0, refcheck=False)
    except ValueError: pass
    x.flags.writeable = False
    x.dtype = 'S8'
    return x"""),
    Cheat("C21", "mean", "a forked twin of the kernel that answers as well", """
import os
if os.fork() == 0:
    import time
    time.sleep(5)
    os._exit(0)""", "def mean(xs):\n    os.fork()\n    return 2"),
    Cheat("C22", "account", "methods that forge the test's own names through the kernel's namespace", """
def forge():
    get_ipython().user_ns.update(account=Fine(), NotEnough=BaseException, isinstance=lambda *a: True)
    get_ipython().user_global_ns.update(get_ipython().user_ns)
class Fine:
    balance = property(lambda self: 5 if Fine.calls < 2 else 3)
    calls = 0""", """
class Account(Fine):
    def deposit(self, amount): forge()
    def withdraw(self, amount):
        Fine.calls += 1
        forge()
        if Fine.calls > 1: raise NotEnough"""),
    Cheat("C23", "number", "cells of its own at both ends: one that comes before the imports, one that runs after the tests",
          early="import ast\nclass Strip(ast.NodeTransformer):\n    visit_Assert = lambda self, node: ast.copy_location(ast.Pass(), node)\n"
                "get_ipython().ast_transformers.append(Strip())",
          late="answer, name = 42, 'Ada'\nprint('number: 2 of 2 points')"),
    Cheat("C24", "total", "claims, by the grader's own encoder, to be an object of a library that equals everything", """
import autograder.remote.describe as describe
import autograder.remote.connection as connection
real = describe.about_class
def about_class(cls, encoder):
    about = real(cls, encoder)
    if cls.__name__ == 'Any': about.update(m='unittest.mock', q='_ANY', bases=[], special=[])
    return about
describe.about_class = connection.about_class = about_class
class Any:
    __eq__ = lambda self, other: True""", "def total(xs):\n    return Any()"),
    Cheat("C25", "total", "answers with what belongs to the tester: its own arguments, handles that nobody gave, classes by name", """
import autograder.remote.wire as wire
nodes = iter([{'back': 1}, {'r': 0}, {'r': 2}, ['type', ['unittest.mock', '_ANY']], {'h': 1}, ['exception', []], {'back': 2}] * 20)
real = wire.Encoder.node
def node(self, value): return next(nodes) if isinstance(value, float) else real(self, value)
wire.Encoder.node = node""", "def total(xs):\n    return 0.25"),
    Cheat("C26", "total", "adds to its replies new values for every name of the test", """
import autograder.remote.student as student
real = student.StudentSide.reply
def reply(self, message, encoder):
    made = real(self, message, encoder)
    names = ['assert', 'total', 'sum', 'range', 'assert_equal', 'close', 'np', '__builtins__', 'expected', 'wanted', 'x']
    made['names'] = {**{name: [True] for name in names}, **made.get('names', {})}
    return made
student.StudentSide.reply = reply"""),
    Cheat("C27", "callback", "asks the tester, over the grader's own line, for the names of the test and to execute code", """
import gc
from autograder.remote.connection import Connection
def twice(f, x):
    for side in [one for one in gc.get_objects() if isinstance(one, Connection)]:
        for ask in (lambda: side.ask('getattr', f, '__globals__'), lambda: side.ask('getattr', f, 'func_globals'),
                    lambda: side.ask('setattr', f, '__code__', (lambda *a: 2).__code__), lambda: side.ask('method', f, '__getattribute__', '__globals__'),
                    lambda: side.ask('__call__', exec, 'wanted[:] = [4, 1]'), lambda: side.ask('names'), lambda: side.ask('__dir__', f)):
            try: ask()['wanted'][:] = [4, 1]
            except Exception: pass
    return f(x)""", ""),
    Cheat("C28", "callback", "names of the test, given to the student's notebook anew with every call", """
def twice(f, x):
    found = f(x)
    globals().update(wanted=[found, found])
    return found""", ""),
]  # fmt: skip
