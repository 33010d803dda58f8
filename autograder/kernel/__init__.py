"""Kernels that run students' notebooks: forked from a warm fork server, confined, spoken to over unix sockets.

Nothing is imported here. The fork server imports this package before it forks, and what it does not import no
student's process holds: the rest is imported by its own name.
"""
