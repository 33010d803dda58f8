# Setup: run this cell first. It installs the course where it is missing (Colab) and says so when that fails.
import importlib.util
import subprocess
import sys

REPOSITORY = "example/transformer-course"
if importlib.util.find_spec("course") is None:
    package = f"transformer-course[views] @ git+https://github.com/{REPOSITORY}"
    command = [sys.executable, "-m", "pip", "install", "--quiet", package]
    installer = subprocess.run(command, capture_output=True, text=True)
    if installer.returncode:
        raise SystemExit(f"The course could not be installed. pip said:\n{installer.stderr.strip()}")
