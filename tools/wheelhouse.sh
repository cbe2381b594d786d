#!/usr/bin/env bash
# Everything an air-gapped site needs to install Railwright with pip: our own wheel and the wheels of
# all run-time dependencies, for CPython 3.10 to 3.13 on x86_64 and aarch64 (Grace, BlueField).
#
# usage: tools/wheelhouse.sh [--output DIR] [--python 3.11]... [--only-needed]
#   --output DIR    where to (default: wheelhouse); what is there already is kept and used
#   --python X.Y    only this version; may be given again
#   --only-needed   only this machine's architecture and aarch64
#
# PYTHON names the interpreter that runs pip (default: python3); it need not be one of the versions.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
output=wheelhouse
versions=()
machines=(x86_64 aarch64)

die() { echo "wheelhouse: $*" >&2; exit 2; }
while (($#)); do
  case $1 in
    --output) output=${2:?--output needs a folder}; shift ;;
    --python) versions+=("${2:?--python needs a version}"); shift ;;
    --only-needed) machines=("$(uname -m)" aarch64) ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) die "unknown argument $1" ;;
  esac
  shift
done
((${#versions[@]})) || versions=(3.10 3.11 3.12 3.13)
if [ "${machines[0]}" = "${machines[1]}" ]; then machines=("${machines[0]}"); fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
pip() { "$python" -m pip "$@"; }
wheels() { "$python" "$here/tools/wheels.py" "$@"; }

mkdir -p "$output"
output=$(cd "$output" && pwd)
rm -f "$output"/railwright-*.whl # an older build of ours would be chosen by its version

pip wheel --quiet --no-deps --wheel-dir "$output" "$here"
# ClusterShell before 1.10 came without a wheel: pip makes one then. It is pure Python.
pip wheel --quiet --no-deps --wheel-dir "$output" "$(wheels requirement "$output" ClusterShell)"

fetch() { # fetch VERSION MACHINE REQUIREMENT...
  local version=$1 machine=$2 platforms=() minor
  shift 2
  # Every manylinux that runs with glibc 2.28: RHEL 8, Ubuntu 20.04 and all that is newer.
  for minor in {28..17}; do platforms+=(--platform "manylinux_2_${minor}_$machine"); done
  platforms+=(--platform "manylinux2014_$machine")
  pip download --quiet --only-binary=:all: --implementation cp --python-version "$version" \
    "${platforms[@]}" --find-links "$output" --dest "$output" "$@"
}

for version in "${versions[@]}"; do
  for machine in "${machines[@]}"; do
    fetch "$version" "$machine" "$output"/railwright-*.whl
    # pip judges conditions such as python_version < '3.11' by the Python it runs in, not by the one
    # it was told. What that left out is found in the wheels themselves.
    for _ in 1 2 3 4 5; do
      mapfile -t missing < <(wheels missing "$output" "$version" "$machine")
      ((${#missing[@]})) || break
      fetch "$version" "$machine" "${missing[@]}"
    done
    ((${#missing[@]} == 0)) || die "still missing for Python $version on $machine: ${missing[*]}"
  done
done

wheels licences "$output" >"$output/LICENSES.txt"
cat >"$output/INSTALL.txt" <<TEXT
Railwright without a network: CPython ${versions[*]} on ${machines[*]}, glibc 2.28 or newer.
In the folder above this one, best in a fresh virtual environment:

    pip install --no-index --find-links wheelhouse railwright

To check the files first: cd wheelhouse && sha256sum --check SHA256SUMS
Licences: LICENSES.txt.
TEXT
(cd "$output" && sha256sum -- *.whl LICENSES.txt INSTALL.txt >SHA256SUMS)
echo "wheelhouse: $(find "$output" -name '*.whl' | wc -l) wheels, $(du -sh "$output" | cut -f1) in $output"
