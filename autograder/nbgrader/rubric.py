"""The name under which a configuration from before ``autograder mark`` imports what asks before it overwrites."""

from autograder.nbgrader.formgrader import AskFirst as ShowRubric

__all__ = ["ShowRubric"]
