"""Testing an assignment's checks: small changes to every solution, each of which must cost points."""
