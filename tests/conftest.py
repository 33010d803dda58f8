"""What all tests share."""

import os
import sys
from pathlib import Path

# many small kernels on few cores: one thread each, here as in grading
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
# nbgrader calls alembic by name, also where nobody activated the environment
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
