"""The documents as a site.

python -m tools.docs_site                 stage the pages, build them with Zensical: build/site/html
python -m tools.docs_site --stage FOLDER  only stage them

The pages of docs/ link to some beside that folder (SECURITY.md), which no generator takes. So all
of them are copied into one folder, with their links put right, and the configuration beside them.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from railwright.check.rule import shipped
from tools.command_docs import GROUPS

REPOSITORY = Path(__file__).parents[1]
CONFIGURATION = REPOSITORY / "mkdocs.yml"
BESIDE = ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")  # pages that lie beside docs/
TOPICS = {
    "gpu": "GPU",
    "gpudirect": "GPUDirect",
    "numa": "NUMA",
    "pcie": "PCIe",
    "qos": "QoS",
}  # as written
# A block or a span of code, where a link is none; or a link.
_PART = re.compile(
    r"^```.*?^```$|`[^`\n]+`(?!\]\()|\]\((?P<target>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)",
    re.MULTILINE | re.DOTALL,
)


# ---- pages


def _staged(path: Path) -> Path | None:
    """Where a file of the repository is among the pages; None if it is not there."""
    if path.is_dir():
        path /= "README.md"
    if path == REPOSITORY / "README.md":  # the site has a first page of its own
        return Path("README.md")
    if path.parent == REPOSITORY and path.name in BESIDE:
        return Path(path.name)
    docs = REPOSITORY / "docs"
    return path.relative_to(docs) if path.is_relative_to(docs) else None


def _text(source: Path, at: Path) -> str:
    """A page with its links as they are from where it lies now."""

    def put_right(match: re.Match[str]) -> str:
        target, anchor = match["target"], match["anchor"] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        to = _staged((source.parent / target).resolve())
        if to is None:
            raise SystemExit(f"{source.relative_to(REPOSITORY)}: {target} is not part of the site")
        return f"]({os.path.relpath(to, at.parent)}{anchor})"

    return _PART.sub(put_right, source.read_text("utf-8"))


def _sources() -> Iterator[Path]:
    yield from (REPOSITORY / name for name in BESIDE)
    yield from (path for path in sorted((REPOSITORY / "docs").rglob("*")) if path.is_file())


# ---- navigation


def _title(page: Path) -> str:
    """Its first heading, without marks of code and what stands behind a colon."""
    said = re.search(r"^# (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return said[1].replace("`", "") if said else page.stem


def _all_of(folder: str, named: set[str]) -> list[Any]:
    """What `FOLDER/*` stands for: the pages of the folder that are not named by themselves."""
    if folder == "rules":
        topics: dict[str, list[Any]] = {}
        for rule in shipped().values():
            topics.setdefault(rule.topic, []).append({rule.id: f"rules/{rule.id}.md"})
        return [{TOPICS.get(t, t.capitalize()): pages} for t, pages in sorted(topics.items())]
    found = {path.stem: path for path in sorted((REPOSITORY / "docs" / folder).glob("*.md"))}
    names = [name for name in found if f"{folder}/{name}.md" not in named]
    if folder == "commands":
        order = [name for group in GROUPS.values() for name in group]
        names.sort(key=lambda name: order.index(name) if name in order else len(order))
    titles = {name: _title(found[name]).removeprefix("railwright ") for name in names}
    return [{titles[name]: f"{folder}/{name}.md"} for name in names]


def pages_of(entries: Iterable[Any]) -> Iterator[str]:
    """Every page that a navigation names."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, list):
            yield from pages_of(entry)
        else:
            yield from pages_of(entry.values())


def _expanded(entries: list[Any], named: set[str]) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, str) and entry.endswith("/*"):
            yield from _all_of(entry[:-2], named)
        elif isinstance(entry, dict):
            for title, below in entry.items():
                is_page = isinstance(below, str) and not below.endswith("/*")
                some = [below] if isinstance(below, str) else below
                yield {title: below if is_page else list(_expanded(some, named))}
        else:
            yield entry


def navigation() -> list[Any]:
    """That of the configuration, with every page of the folders that it names."""
    entries = yaml.safe_load(CONFIGURATION.read_text("utf-8"))["nav"]
    return list(_expanded(entries, set(pages_of(entries))))


# ---- the site


def stage(folder: Path) -> Path:
    """Write the pages and the configuration; gives the configuration."""
    pages = folder / "pages"
    if pages.exists():
        shutil.rmtree(pages)
    for source in _sources():
        at = _staged(source)
        if at is None:
            raise SystemExit(f"{source} has no place in the site")
        to = pages / at
        to.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            to.write_text(_text(source, at), "utf-8")
        else:
            shutil.copyfile(source, to)
    configuration = yaml.safe_load(CONFIGURATION.read_text("utf-8")) | {"nav": navigation()}
    made = folder / "mkdocs.yml"
    made.write_text(yaml.safe_dump(configuration, sort_keys=False), "utf-8")
    return made


def main() -> None:
    """Stage the pages, and build them."""
    if sys.argv[1:2] == ["--stage"]:
        stage(Path(sys.argv[2]))
        return
    made = stage(REPOSITORY / "build/site")
    zensical = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(made)]
    sys.exit(subprocess.run(zensical, check=False).returncode)


if __name__ == "__main__":
    main()
