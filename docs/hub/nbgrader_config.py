"""What nbgrader needs to know on a hub, for everybody. Copy it to /etc/jupyter/, and put your course's id into it."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "physics"
c.Exchange.root = "/srv/nbgrader/exchange"
