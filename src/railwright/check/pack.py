"""Rules from elsewhere: loaded, bound and tested in a process apart before any is run.

python -m railwright.check.pack       a folder's name on standard input; faults on standard output
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

from railwright.check.cases import load_cases, not_shown
from railwright.check.guarded import guarded
from railwright.check.lint import binding_database, faults
from railwright.check.rule import Rule, by_id, by_name, load_folder, shipped
from railwright.check.trial import Trial, not_cured, trial_database, wrong_in, wrong_without
from railwright.confine import write_only_below
from railwright.errors import RuleError
from railwright.store.duck import spill_folder

SECONDS = 30.0  # for all rules of a pack with their cases; a case takes some milliseconds


def _wrong_cases(rule: Rule) -> list[str]:
    cases = load_cases(rule)
    missing = [one for one in not_shown(rule, cases) if one != "not applicable"]
    if missing:
        return [f"no case is {' or '.join(missing)}"]
    with trial_database() as database:
        trial = Trial(database, rule)
        wrong = [wrong for case in cases for wrong in wrong_in(trial, case)]
        for case in cases:
            wrong += not_cured(case, trial.judge(case.cured)) if case.cured is not None else []
        return wrong or [wrong for case in cases for wrong in wrong_without(trial, case)]


def _faults(folder: Path) -> list[str]:
    """Everything that is wrong with a pack, in words."""
    found = []
    try:
        with binding_database() as binding:
            for rule in by_id(load_folder(folder)).values():
                wrong = faults(rule, binding) or _wrong_cases(rule)
                found += [f"{rule.path.name}: {one}" for one in wrong]
    except RuleError as error:
        found.append(str(error))
    return found


def load_pack(folder: Path) -> dict[str, Rule]:
    """A folder of rules: refused as a whole if anything about it is wrong."""
    if not folder.is_dir():
        raise RuleError(
            f"{folder} is not a folder of rules",
            do="Name a folder that has rules, one per .sql file (docs/writing-rules.md).",
        )
    rules = by_id(load_folder(folder.resolve()))
    if not rules:
        raise RuleError(
            f"no rules in {folder}",
            do="A rule is a .sql file with its cases: see docs/writing-rules.md.",
        )
    names = by_name(shipped().values())
    taken = sorted(set(by_name(rules.values())) & set(names))
    if taken:
        raise RuleError(f"{folder}: {taken[0]!r} is or was the name of a built-in rule")
    wrong = _faults_apart(folder.resolve())
    if wrong:
        raise RuleError(
            f"the rules in {folder} were rejected: {wrong[0]}"
            + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""),
            why="A faulty rule reports nothing, or that everything is fine.",
        )
    return {name: _with_names_of_now(rule, names) for name, rule in rules.items()}


def _with_names_of_now(rule: Rule, names: dict[str, str]) -> Rule:
    """A pack may name what explains its findings as it was called when the pack was written."""
    return replace(rule, implied_by=tuple(names.get(one, one) for one in rule.implied_by))


def _faults_apart(folder: Path) -> list[str]:
    began = time.monotonic()
    found: list[str] = []
    with guarded("railwright.check.pack", str(folder)) as child:
        for line in child.lines():
            if line is None:
                trouble = child.trouble(began, SECONDS)
                if trouble:
                    return [f"testing them was {trouble}"]
            elif line == "end":
                return found
            else:
                found.append(line)
    return [*found, "the process that tested them was killed"]


if __name__ == "__main__":
    write_only_below([spill_folder()])
    for fault in _faults(Path(sys.stdin.read())):
        print(fault.replace("\n", " "))  # noqa: T201 (the parent reads it)
    print("end")  # noqa: T201
