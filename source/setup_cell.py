# Setup: run this cell first. It installs the course where it is missing (Colab) and shows what pip warns of.
import importlib.util
import subprocess
import sys

REPOSITORY = "example/transformer-course"
if importlib.util.find_spec("course") is None:
    package = f"transformer-course[views] @ git+https://github.com/{REPOSITORY}"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
    installer = subprocess.run(command, capture_output=True, text=True)
    message = installer.stderr.strip()
    if installer.returncode:
        raise SystemExit(f"The course could not be installed. pip said:\n{message}")
    if message:
        print(f"The course is installed. pip warned:\n{message}")
