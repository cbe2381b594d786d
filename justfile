# Railwright: `just` lists what there is to run.

python := "python"

# list the recipes
default:
    @just --list

# format, lint, types and package boundaries
lint:
    ruff format --check src tests lab bench
    ruff check src tests lab bench
    mypy
    lint-imports
    vermin --no-tips --violations -t=3.6- src/railwright/collect/runner.py

# the whole test suite (as root: real sshd hosts in namespaces)
test *arguments:
    pytest {{ arguments }}

# the store and the tables once more with the oldest DuckDB we support
test-lowest:
    .venv-lowest/bin/pytest -q -m "not fleet" tests

# put the formatting right
format:
    ruff format src tests lab bench
    ruff check --fix src tests lab bench
