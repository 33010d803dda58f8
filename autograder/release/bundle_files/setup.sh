#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image: Python and the pinned packages, in their own environment.
# AUTOGRADER_ROOT names another place than /autograder, to try the bundle elsewhere.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
cd "$root/source"
# shellcheck source=/dev/null
source ./settings.sh

# the first Python that is new enough and can make an environment
find_python() {
  local candidate
  for candidate in python3.11 python3.12 python3.13 python3; do
    if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

if ! python="$(find_python)"; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends python3 python3-venv || true
  find_python >/dev/null || apt-get install -y -qq --no-install-recommends python3.11 python3.11-venv || true
  if ! python="$(find_python)"; then
    echo "setup.sh: Python 3.11 or later is needed; choose a newer base image, say Ubuntu 24.04" >&2
    exit 1
  fi
fi

"$python" -m venv "$root/venv"
# editable: references stay outside of the environment, which is all that a submission may read
"$root/venv/bin/pip" install --quiet "${PIP_OPTIONS[@]}" "${INSTALL[@]}"
