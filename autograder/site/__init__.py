"""The published assignments, and a course's own pages, as a static site that needs no network."""
