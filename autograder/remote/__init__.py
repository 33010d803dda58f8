"""Values of the student's kernel in a second kernel, the tester: what crosses between them is data.

Nothing here knows a test, an expected value or a verdict, and so both kernels import it.
"""
