"""Feedback and grades on their way back: Moodle's and Canvas's zips, students' repositories, Canvas's API."""
