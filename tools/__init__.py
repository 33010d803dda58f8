"""Programs of the maintainers: measurements, a sample class, pages that are made, and what made the course's data."""
