"""Code that several cheats have in common: it reads the cell that is being run, or every frame above it."""

from __future__ import annotations

#: Finds the text of the cell that is being run, and gives what stands on the right of the call in it.
READ = """
import ast
def expected(texts, name):
    for text in reversed(texts):
        try: tree = ast.parse(text)
        except SyntaxError: continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and name in ast.unparse(node.left):
                yield ast.unparse(node.left), ast.unparse(node.comparators[0])
"""


#: Looks at every frame above the called function, and makes every value of the test the right one.
FRAMES = """
import sys
def meddle(value):
    frame = sys._getframe(1)
    while frame is not None:
        space = frame.f_globals
        for name in ('assert_equal', 'close', 'halved'):
            if name in space: space[name] = lambda *a: value
        for name in ('expected', 'before'):
            if name in space: space[name] = value
        if 'pytest' in space: space['pytest'].approx = lambda *a, **k: value
        frame = frame.f_back
"""
