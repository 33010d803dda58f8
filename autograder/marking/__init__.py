"""Marking by question: a local page on which people mark written answers, like answers together."""
