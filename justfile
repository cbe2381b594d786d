# Railwright: `just` lists what there is to run.

python := "python"

# list the recipes
default:
    @just --list

# format, lint, types and package boundaries
lint:
    ruff format --check src tests lab bench tools
    ruff check src tests lab bench tools
    mypy
    lint-imports
    vermin --no-tips --violations -t=3.6- src/railwright/collect/runner.py

# the whole test suite (as root: real sshd hosts in namespaces)
test *arguments:
    pytest {{ arguments }}

# the store and the tables once more with the oldest DuckDB we support
test-lowest:
    .venv-lowest/bin/pytest -q -m "not fleet" -k "not kill_9 and not wheelhouse" tests

# put the formatting right
format:
    ruff format src tests lab bench tools
    ruff check --fix src tests lab bench tools

# write docs/probes.md and docs/tables.md anew; a test holds them to the code
docs:
    {{ python }} -m tools.generate_docs

# run every command of docs/start.md on a small site of real sshd hosts, and write what they print
guide: (wheelhouse "--python" "3.11" "--only-needed")
    {{ python }} -m lab.guide

# the figures of docs/figures.md, measured anew (as root, about ten minutes)
bench:
    {{ python }} -m bench.ingest
    {{ python }} -m bench.collect_fleet 256

# wheels of ours and of every dependency for an air-gapped site, into wheelhouse/
wheelhouse *arguments:
    PYTHON={{ python }} tools/wheelhouse.sh {{ arguments }}
