"""One submission in continuous integration: results for Gradescope, for JUnit readers and for a GitHub summary.

Nothing is imported here: a command that looks for earlier results shall not wait for all that makes new ones.
"""

#: What is written.
FILES = ("results.json", "junit.xml", "summary.md")
