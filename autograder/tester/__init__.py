"""What runs inside of the two kernels in which a plain test is judged: the student's, and the tester."""
