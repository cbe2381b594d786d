"""Subjects of commits, held to CONTRIBUTING.md.

    python -m tools.commit_subjects                  every commit after FIRST, up to HEAD
    python3 tools/commit_subjects.py --message FILE  the message of a commit that is being made

Standard library only: the hook runs it with whatever Python there is.
"""

import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
# Nobody rewrites what was written before there was a check: this one's children are the first.
FIRST = "ecd1e980aaed0cdd5ae137eac85c33296ac621dd"
LONGEST = 72  # what `git log --oneline` shows in 80 columns
# "Figures: ...", "fix(lab): ...", "Lab (live hosts): ...": a label in front, not a sentence.
_LABEL = re.compile(r"[\w./-]+(?: [\w./-]+)?(?: ?\([^)]*\))?!?: ")


def wrong(subject: str) -> list[str]:
    """What CONTRIBUTING.md has against a subject, in words."""
    if not subject.strip():
        return ["it is empty"]
    found = []
    if len(subject) > LONGEST:
        found.append(f"it has {len(subject)} characters, at most {LONGEST} are shown in full")
    if subject.endswith("."):
        found.append("it ends with a full stop")
    if not subject[0].isupper():
        found.append("its first word has no capital")
    if _LABEL.match(subject):
        found.append(f"it begins with a label: {subject.partition(':')[0]}:")
    return found


def subject_of(message: str) -> str:
    """The first line of a message that is no comment of git's."""
    lines = (line for line in message.splitlines() if not line.startswith("#"))
    return next((line for line in lines if line.strip()), "").rstrip()


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=False)


def _why_not() -> str:
    """Why the commits cannot be looked at; '' where they can."""
    if _git("rev-parse", "--git-dir").returncode:
        return "this is no git repository"
    if _git("merge-base", "--is-ancestor", FIRST, "HEAD").returncode:
        return f"the history does not go back to {FIRST[:7]} (a shallow clone?)"
    return ""


def _faults() -> list[str]:
    listed = _git("log", "--format=%h%x09%p%x09%s", f"{FIRST}..HEAD").stdout
    found = []
    for line in listed.splitlines():
        commit, parents, subject = line.split("\t", 2)
        said = wrong(subject)
        if " " in parents:
            said.append("it is a merge: rebase instead")
        found += [f"{commit} {subject}\n    {one}" for one in said]
    return found


def main(words: list[str]) -> int:
    """0 = as agreed, or nothing to look at; 1 = not so."""
    if words[:1] == ["--message"]:
        subject = subject_of(Path(words[1]).read_text("utf-8", "replace"))
        faults = [f"{subject}\n    {one}" for one in wrong(subject)]
    elif why := _why_not():
        sys.stdout.write(f"subjects of commits: not checked, {why}\n")
        return 0
    else:
        faults = _faults()
    if not faults:
        return 0
    faults.append("CONTRIBUTING.md, Commits, says what a subject is like.")
    sys.stderr.write("".join(f"{one}\n" for one in faults))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
