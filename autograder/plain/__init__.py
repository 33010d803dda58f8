"""Plain test cells: graded code cells without ``reference(...)``. Where each is judged, and the names that it needs."""
