"""An assignment in the manner of the notebooks with which nbgrader tests itself.

Partial credit, hidden tests, tests made of AUTOTEST lines, a file that is read, an answer that is printed, a
variable, a warning, a cell without points, answers that a person reads.
"""

from pathlib import Path

from tests.plain.notebooks import answer, code, graded, locked, notebook, read_by_hand, task, words, write

AUTOTESTS = '''
python3:
    setup: "from hashlib import sha1"
    hash: 'sha1({{snippet}}.encode("utf-8")+b"{{salt}}").hexdigest()'
    dispatch: "type({{snippet}})"
    normalize: "str({{snippet}})"
    check: 'assert {{snippet}} == """{{value}}""", """{{message}}"""'
    success: "print('Success!')"
    templates:
        default:
            - test: "type({{snippet}})"
              fail: "the type of {{snippet}} is not correct"
            - test: "{{snippet}}"
              fail: "the value of {{snippet}} is not correct"
'''
SOLUTIONS = {
    "mean": "def mean(numbers):\n    return sum(numbers) / len(numbers)",
    "total": 'with open("data/numbers.csv") as file:\n    total = sum(map(int, file.read().split(",")))',
    "greet": "def greet(name):\n    print(f'Hello, {name}!')",
    "words": "def words(text):\n    return {word: text.split().count(word) for word in text.split()}",
    "table": "table = [[row * column for column in range(4)] for row in range(4)]",
}
CELLS = [
    words("# Styles"),
    code("import numpy as np"),
    locked("helpers", "from helper import close\n\ndef share(right):\n    return sum(right) / len(right)"),
    *(answer(name, f"### BEGIN SOLUTION\n{text}\n### END SOLUTION") for name, text in SOLUTIONS.items()),
    graded("mean_right", """
        assert mean([1, 2, 3]) == 2
        ### BEGIN HIDDEN TESTS
        assert close(mean([0.1, 0.2]), 0.15)
        np.testing.assert_allclose(mean(np.arange(4.0)), 1.5)
        ### END HIDDEN TESTS
    """, 2),
    graded("mean_share", """
        cases = [([1], 1), ([1, 3], 2), ([2, 4, 6], 4), ([-1, 1], 0)]
        4 * share([mean(numbers) == expected for numbers, expected in cases])
    """, 4),
    graded("total_right", "assert total == 60"),
    graded("greet_right", """
        import io
        from contextlib import redirect_stdout

        printed = io.StringIO()
        with redirect_stdout(printed):
            greet("Ada")
        assert printed.getvalue() == "Hello, Ada!\\n"
    """),
    graded("words_made", "### AUTOTEST words('a b a')\n### HASHED AUTOTEST words('x')", 2),
    graded("table_right", "assert table[3] == [0, 3, 6, 9]\nlen(table) == 4"),
    graded("warned", "import sys\nprint('just a remark', file=sys.stderr)\nassert mean([4]) == 4"),
    graded("nothing_at_stake", "assert mean([5]) == 5", 0),
    read_by_hand("shown", "### BEGIN SOLUTION\nprint(mean([1]))\n### END SOLUTION", 2, "code"),
    read_by_hand("why", "Because.", 3),
    task("plot", "Draw it.", 2),
]  # fmt: skip


def write_source(root: Path) -> None:
    folder = root / "source" / "styles"
    write(notebook(*CELLS), folder / "styles.ipynb")
    (folder / "data").mkdir()
    (folder / "data" / "numbers.csv").write_text("10,20,30")
    (folder / "helper.py").write_text("def close(one, other):\n    return abs(one - other) < 1e-9\n")
    (folder / "autotests.yml").write_text(AUTOTESTS)
