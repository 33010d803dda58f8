"""What this package raises."""


class InfrastructureError(RuntimeError):
    """The grader's own machinery failed, whatever the submission did: there is no grade yet, and a retry may help."""


class OutputFloodError(Exception):
    """The grader was flooded with messages while several notebooks ran: each is to be run again, alone."""
