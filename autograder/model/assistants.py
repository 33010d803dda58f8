"""What assistants such as Claude, ChatGPT and Copilot may do in a course: ``assistants`` in ``course.toml``.

Grading cannot see who kept to it.
"""

from __future__ import annotations

_WHO = "**Assistants** (Claude, ChatGPT, Copilot and the like)"
#: Policy -> what README and notebooks say.
SENTENCES = {
    "none": f"{_WHO} may help with installation, Jupyter and Git. They may not write, complete, correct or review what "
    "you hand in.",
    "tutor": f"{_WHO} may ask, explain and lead you to the next hint. They may not write what you hand in.",
    "open": f"{_WHO} may write code. You must be able to explain every line of it; name the parts that are your own at "
    "the top of the notebook.",
}
