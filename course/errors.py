"""What goes wrong, in one line that a student can act on.

    CourseError
    ├── ConfigError         sizes that do not fit each other
    ├── CheckpointError     a checkpoint that is missing, damaged or unknown
    │   └── DownloadError   the hub could not be reached, or sent something else
    ├── StateDictError      a tensor that is missing, unexpected or of the wrong shape
    ├── SentenceError       text that the model cannot take
    └── MissingPackage      an optional package that is not installed

Each message says what was expected, what came, and what to do.
"""


class CourseError(Exception):
    """The root of the tree; ``str(error)`` is one line."""


class ConfigError(CourseError):
    pass


class CheckpointError(CourseError):
    pass


class DownloadError(CheckpointError):
    pass


class StateDictError(CourseError):
    pass


class SentenceError(CourseError):
    pass


class MissingPackage(CourseError):
    pass
