"""What the wheels of a folder say about themselves: requirements and licences.

wheels.py requirement FOLDER NAME      how our wheel asks for that distribution
wheels.py missing FOLDER 3.10 aarch64  requirements that no wheel of the folder meets there
wheels.py licences FOLDER              name, version and licence of each distribution
wheels.py constraints FOLDER           every dependency with its version and its wheels' SHA-256
"""

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path

# pip carries it; a machine that can make a wheelhouse needs nothing else.
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.specifiers import SpecifierSet
from pip._vendor.packaging.tags import Tag, compatible_tags, cpython_tags
from pip._vendor.packaging.utils import canonicalize_name, parse_wheel_filename
from pip._vendor.packaging.version import Version

OURS = "railwright"
GLIBC_MINORS = range(28, 4, -1)  # 2.28 is RHEL 8; 2.5 is the oldest there is a name for
OLD_NAMES = ("manylinux2014", "manylinux2010", "manylinux1")


@dataclass(frozen=True)
class Wheel:
    """One wheel file."""

    name: str
    version: Version
    tags: frozenset[Tag]
    metadata: Message

    @property
    def pythons(self) -> SpecifierSet:
        """The Python versions it is for."""
        return SpecifierSet(self.metadata.get("Requires-Python", ""))

    def requirements(self) -> list[Requirement]:
        """What it asks for, conditions and all."""
        return [Requirement(text) for text in self.metadata.get_all("Requires-Dist", [])]


def read_wheel(path: Path) -> Wheel:
    """A wheel's name and tags from its file name, the rest from the METADATA inside."""
    name, version, _, tags = parse_wheel_filename(path.name)
    with zipfile.ZipFile(path) as archive:
        inside = [n for n in archive.namelist() if n.count("/") == 1 and n.endswith("/METADATA")]
        text = next(archive.read(n) for n in inside if ".dist-info/" in n).decode("utf-8")
    return Wheel(str(name), version, tags, Parser().parsestr(text, headersonly=True))


def read_folder(folder: Path) -> list[Wheel]:
    """All wheels of a folder."""
    return [read_wheel(path) for path in sorted(folder.glob("*.whl"))]


def _tags(python: tuple[int, int], machine: str) -> frozenset[Tag]:
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in GLIBC_MINORS]
    platforms += [f"{name}_{machine}" for name in OLD_NAMES]
    interpreter = f"cp{python[0]}{python[1]}"
    return frozenset(
        (
            *cpython_tags(python, platforms=platforms),
            *compatible_tags(python, interpreter, platforms),
        )
    )


def missing(folder: Path, python: str, machine: str) -> Iterator[str]:
    """Requirements, from ours downwards, that no wheel of the folder meets on that machine."""
    major, minor = (int(part) for part in python.split(".")[:2])
    environment = {
        "python_version": f"{major}.{minor}",
        "python_full_version": f"{major}.{minor}.0",
        "platform_machine": machine,
        "platform_system": "Linux",
        "sys_platform": "linux",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    tags = _tags((major, minor), machine)
    usable = [
        wheel
        for wheel in read_folder(folder)
        if wheel.tags & tags and f"{major}.{minor}.99" in wheel.pythons
    ]
    waiting, seen = [Requirement(OURS)], set[str]()
    while waiting:
        wanted = waiting.pop()
        if str(wanted) in seen or (wanted.marker and not wanted.marker.evaluate(environment)):
            continue
        seen.add(str(wanted))
        met = [
            wheel
            for wheel in usable
            if wheel.name == canonicalize_name(wanted.name) and wheel.version in wanted.specifier
        ]
        if met:
            waiting += max(met, key=lambda wheel: wheel.version).requirements()
        else:
            yield f"{wanted.name}{wanted.specifier}"


def requirement(folder: Path, name: str) -> str:
    """How our wheel asks for a distribution, without the condition."""
    ours = next(wheel for wheel in read_folder(folder) if wheel.name == OURS)
    found = next(
        wanted
        for wanted in ours.requirements()
        if canonicalize_name(wanted.name) == canonicalize_name(name)
    )
    return f"{found.name}{found.specifier}"


def licence(metadata: Message) -> str:
    """The SPDX expression, else the classifiers, else the first line of the free text."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classifiers = [str(text) for text in metadata.get_all("Classifier", [])]
    names = [text.split(" :: ")[-1] for text in classifiers if text.startswith("License :: ")]
    if names:
        return ", ".join(names)
    lines = str(metadata.get("License", "")).strip().splitlines()
    return lines[0] if lines else "not stated in the metadata: see the files inside the wheel"


def licences(folder: Path) -> Iterator[str]:
    """One line per distribution and version."""
    found = {
        (wheel.metadata["Name"], wheel.metadata["Version"], licence(wheel.metadata))
        for wheel in read_folder(folder)
    }
    yield "Licences as each distribution's own metadata states them; the texts are in the wheels."
    yield ""
    for name, version, text in sorted(found, key=lambda row: row[0].lower()):
        yield f"{name:20} {version:12} {text}"


def constraints(folder: Path) -> Iterator[str]:
    """What `pip install --require-hashes -r` takes: nothing but these very files is installed."""
    yield "# Every dependency of Railwright and what they need, with the SHA-256 of their wheels."
    yield "# Made by `just constraints`; how to use it: docs/install.md."
    hashes: dict[tuple[str, Version], list[str]] = {}
    oldest: dict[tuple[str, Version], str] = {}
    for path in sorted(folder.glob("*.whl")):
        wheel = read_wheel(path)
        if wheel.name != OURS:
            key = (wheel.name, wheel.version)
            hashes.setdefault(key, []).append(hashlib.sha256(path.read_bytes()).hexdigest())
            oldest[key] = next((s.version for s in wheel.pythons if s.operator == ">="), "3")
    for (name, version), digests in sorted(hashes.items()):
        marks = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(digests))
        yield f"{name}=={version}{_when(name, version, oldest)}{marks}"


def _when(name: str, version: Version, oldest: dict[tuple[str, Version], str]) -> str:
    """For which Python, where a later version of the same is for newer ones only."""
    if name == "tomli":  # its namesake in the standard library came with 3.11
        return "; python_version < '3.11'"
    versions = sorted(v for n, v in oldest if n == name)
    later = [oldest[name, one] for one in versions if one > version]
    if later:
        return f"; python_version < '{later[0]}'"
    return f"; python_version >= '{oldest[name, version]}'" if len(versions) > 1 else ""


def main() -> None:
    """Print what was asked for."""
    command, folder, *rest = sys.argv[1:]
    known = {"requirement": requirement, "missing": missing, "licences": licences,
             "constraints": constraints}  # fmt: skip
    found = known[command](Path(folder), *rest)
    lines = [found] if isinstance(found, str) else list(found)
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
