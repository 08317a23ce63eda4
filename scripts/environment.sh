# Sourced by scripts/quickstart, scripts/test and scripts/release: system packages, a virtual environment in
# build/venv and the wheel built from this source tree. Each step leaves a stamp and is skipped
# while what it depends on has not changed, so a second run starts in seconds.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ENVIRONMENT=$ROOT/build/venv
WHEEL_BUILD=$ROOT/build/wheel
STAMPS=$ROOT/build/stamps

# Another environment beside the usual one, with the oldest packages that are allowed.
use_oldest_packages() {
  OLDEST=--oldest
  ENVIRONMENT=$ROOT/build/oldest/venv
  WHEEL_BUILD=$ROOT/build/oldest/wheel
  STAMPS=$ROOT/build/oldest/stamps
}

say() { echo "[setup] $*" >&2; }

# Runs a command with its output kept in a log, which is shown only when the command fails.
quietly() {
  local log=$ROOT/build/$1.log
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    say "failed: $* (all of its output: $log)"
    return 1
  fi
}

# The newest Python from 3.10 on that this machine has; PYTHON=... overrides.
choose_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.10; do
    if command -v "$candidate" >/dev/null &&
      "$candidate" -c 'import sys; raise SystemExit(sys.version_info < (3, 10))' 2>/dev/null; then
      PYTHON=$candidate
      export PYTHON
      return 0
    fi
  done
  command -v python3 >/dev/null || return 0 # setup_system installs one
  say "Python 3.10 or newer is needed, but python3 is $(python3 -V 2>&1)."
  return 1
}

# Identifies the sources that the wheel is built from.
source_hash() {
  cd "$ROOT" && find CMakeLists.txt pyproject.toml cmake mindspore -type f \
    ! -name '*.so' ! -name '*.pyc' ! -path '*/__pycache__/*' -print0 |
    sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}

# fresh NAME KEY: whether the step NAME has been done for KEY.
fresh() { [ -f "$STAMPS/$1" ] && [ "$(cat "$STAMPS/$1")" = "$2" ]; }
done_for() { echo "$2" >"$STAMPS/$1"; }

# The same for a build, which takes minutes: shows how far it is.
building() {
  local log=$ROOT/build/$1.log
  shift
  "$ENVIRONMENT/bin/python" "$ROOT/scripts/progress.py" --log "$log" "$@" >&2
}

install_packages() { # NAME PACKAGE...
  local name=$1 key
  shift
  key="$*"
  fresh "packages-$name" "$key" && return 0
  say "installing Python packages: $*"
  quietly "pip-$name" "$ENVIRONMENT/bin/pip" --disable-pip-version-check install "$@" || return 1
  done_for "packages-$name" "$key"
}

install_groups() { # NAME GROUP...: groups of pyproject.toml
  local name=$1 listed
  shift
  listed=$("$ENVIRONMENT/bin/python" "$ROOT/scripts/packages.py" "$@") || return 1
  local packages
  mapfile -t packages <<<"$listed"
  install_packages "$name" "${packages[@]}"
}

ensure_environment() {
  if ! "$ENVIRONMENT/bin/python" -c 'import pip' 2>/dev/null; then
    say "creating a virtual environment in ${ENVIRONMENT#"$ROOT"/}"
    rm -rf "$ENVIRONMENT" "$STAMPS"
    mkdir -p "$STAMPS"
    "${PYTHON:-python3}" -m venv "$ENVIRONMENT" || return 1
  fi
  mkdir -p "$STAMPS"
  install_groups build ${OLDEST:-} build run
}

ensure_wheel() { # [CMake settings]
  local key
  key="$(source_hash) $*"
  fresh wheel "$key" && return 0
  say "building the wheel from source (minutes when it is the first time)"
  local started=$SECONDS settings=() setting
  for setting in "$@"; do settings+=("--config-settings=cmake.define.$setting"); done
  rm -rf "$ROOT/build/wheel"
  CMAKE_BUILD_PARALLEL_LEVEL=${MS_JOBS:-$(nproc)} PATH="$ENVIRONMENT/bin:$PATH" \
    building wheel "$ENVIRONMENT/bin/pip" --disable-pip-version-check wheel -v "$ROOT" \
    --no-build-isolation --no-deps --wheel-dir "$ROOT/build/wheel" \
    "--config-settings=build-dir=$WHEEL_BUILD" "${settings[@]}" || return 1
  quietly install "$ENVIRONMENT/bin/pip" --disable-pip-version-check install \
    --force-reinstall --no-deps "$ROOT"/build/wheel/*.whl || return 1
  done_for wheel "$key"
  say "built and installed in $((SECONDS - started)) s"
}

# One set-up at a time: a second caller waits here instead of building over the first.
lock_environment() {
  mkdir -p "$ROOT/build"
  exec 9>"$ROOT/build/.environment.lock"
  flock -n 9 || { say "waiting for another set-up to finish"; flock 9; }
}
unlock_environment() { flock -u 9; }
