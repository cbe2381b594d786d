# Railwright: `just` lists what there is to run.

python := "python"
# tests in as many processes as there are cores; a file stays in one, which prepares once what its tests share
parallel := "-n auto --dist loadfile --no-loadscope-reorder"

# list the recipes
default:
    @just --list

# format, lint, types, package boundaries and the container file
lint:
    ruff format --check src tests lab bench tools docs/examples
    ruff check src tests lab bench tools docs/examples
    mypy
    lint-imports
    codespell docs src lab bench tools *.md
    hadolint Containerfile
    vermin --no-tips --violations -t=3.6- src/railwright/collect/runner.py

# the whole test suite (as root: real sshd hosts in namespaces)
[positional-arguments]
test *arguments:
    pytest {{ parallel }} "$@"

# the tests that need neither root nor more than a few seconds a file: for while one writes
[positional-arguments]
test-fast *arguments:
    pytest -q {{ parallel }} -m "not root and not fleet and not slow" "$@"

# the same with the Python and the DuckDB of another environment, which has no import-linter
test-fast-in venv:
    {{ venv }}/bin/pytest -q {{ parallel }} -m "not root and not fleet and not slow" --ignore tests/test_contracts.py

# what of the slower files reads with DuckDB, with the oldest one we support
test-oldest venv:
    {{ venv }}/bin/pytest -q -n auto --dist load -k "test_cases or test_store and not kill_9" tests/test_rules.py tests/test_store.py

# build the script and the style of the report's page (needs Node, and npm ci in web/)
page:
    npm --prefix web run --silent build

# put the formatting right
format:
    ruff format src tests lab bench tools docs/examples
    ruff check --fix src tests lab bench tools docs/examples

# write the pages of probes, tables, rules and commands and the man pages anew; a test holds them to the code
docs:
    {{ python }} -m tools.generate_docs

# draw the pictures of a terminal again (docs/images); then look at them
pictures:
    RAILWRIGHT_GOLDEN=write pytest -q tests/test_pictures.py

# the documents as a site, in build/site/html (pip install --group docs)
site:
    {{ python }} -m tools.docs_site

# write down anew what the columns of the scopes are made of, after a change of check/scope.sql
scopes:
    {{ python }} -m tools.scope_reads

# write down anew which revision of every table this version makes, after a change of a parser or a table
revisions:
    {{ python }} -m tools.revisions

# run every command of docs/start.md on a small site of real sshd hosts, of docs/fabric.md on a fabric, and write what they print
guide: (wheelhouse "--python" "3.11" "--only-needed")
    {{ python }} -m lab.guide
    {{ python }} -m tools.fabric_page

# a cluster to look at and to break (as root): just lab up --hosts 64, just lab status, just lab down; docs/lab.md
[no-exit-message]
lab *arguments:
    {{ python }} -m lab {{ arguments }}

# the fabric of `railwright demo`, parsed anew; --read reads its hosts anew (as root)
demo *arguments:
    {{ python }} -m tools.make_demo {{ arguments }}

# run every command of the pages about `railwright fit`, and write what they print
fit-pages:
    {{ python }} -m tools.fit_pages

# run every command of docs/examples, and write what they print (as root)
examples:
    {{ python }} -m tools.make_examples

# the figures of docs/figures.md, measured anew (as root, about three hours; large fleets are kept in FOLDER)
bench FOLDER:
    {{ python }} -m bench.stream 10000
    {{ python }} -m bench.stream 50000
    {{ python }} -m bench.collect_fleet 256
    {{ python }} -m bench.parsers
    {{ python }} -m bench.million {{ FOLDER }}
    {{ python }} -m bench.check {{ FOLDER }}
    {{ python }} -m bench.ceilings {{ FOLDER }}
    {{ python }} -m bench.faults
    {{ python }} -m bench.lab_cycles
    {{ python }} -m bench.lab_faults
    {{ python }} -m bench.lab_switch_faults
    {{ python }} -m bench.lab_guests
    {{ python }} -m bench.lab_whole
    {{ python }} -m bench.store_sessions
    {{ python }} -m bench.silent_hosts
    {{ python }} -m bench.rule_lengths
    {{ python }} -m bench.first_answer
    {{ python }} -m bench.mutated_snapshots {{ FOLDER }}/mutated
    {{ python }} -m bench.whole_tests

# constraints.txt: every dependency with the hashes of its wheels, from a wheelhouse made anew
constraints: wheelhouse
    {{ python }} tools/wheels.py constraints wheelhouse > constraints.txt

# wheels of ours and of every dependency for an air-gapped site, into wheelhouse/
wheelhouse *arguments:
    PYTHON={{ python }} tools/wheelhouse.sh {{ arguments }}
