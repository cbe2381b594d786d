"""Which machines: node sets, groups, files, Kubernetes; and which of them are out of service."""

import json
import re
import shutil
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from railwright.errors import ToolMissingError, UsageError, reason_of
from railwright.node_sets import unfold_groups
from railwright.nodes import is_machine_name
from railwright.reach.tool import run_tool_now
from railwright.toml import load_toml

# Slurm base states and flags in which nobody expects a node to serve.
_SLURM_OUT = (
    "DOWN",
    "DRAIN",
    "FAIL",
    "MAINT",
    "POWERED_DOWN",
    "POWERING",
    "REBOOT",
    "FUTURE",
    "UNKNOWN",
)


@dataclass(frozen=True)
class Targets:
    """The machines of a run, in order, and why some of them are not expected to answer."""

    names: tuple[str, ...]
    out_of_service: dict[str, str] = field(default_factory=dict)  # target -> reason
    state_source: str = "none"


class SlurmGroups:
    """`@slurm:gpu` = the nodes of partition gpu, also where no groups.conf says so."""

    def of(self, group: str) -> str:
        """The nodes of one partition."""
        return _commas(_ask(["sinfo", "-h", "-N", "-o", "%N", "-p", group]))

    def names(self) -> str:
        """All partitions."""
        return _ask(["sinfo", "-h", "-o", "%R"]).replace("\n", " ")

    def all(self) -> str:
        """All nodes."""
        return _commas(_ask(["sinfo", "-h", "-N", "-o", "%N"]))


def _commas(lines: str) -> str:
    return lines.replace("\n", ",").strip(",")


def _ask(argv: list[str]) -> str:
    if shutil.which(argv[0]) is None:
        raise ToolMissingError(
            f"{argv[0]} is not installed on this machine",
            why="It provides the list of hosts or their state.",
            do=f"Run railwright where {argv[0]} works, or name the hosts with -w.",
        )
    code, output, words = run_tool_now(argv)
    if code != 0:
        raise UsageError(
            f"{' '.join(argv)} failed: {words or code}",
            why="Without it, the list of hosts would be wrong.",
            do="Run that command by hand to see why, or name the hosts with -w.",
        )
    return output.decode("utf-8", "replace").strip()


def parse_node_set(text: str) -> list[str]:
    """`gpu[001-512]`, `@slurm:gpu`, `gpu[1-8]!gpu3`: names in order, each checked."""
    return unfold_groups(text, {"slurm": SlurmGroups()})


def from_file(path: str) -> list[str]:
    """One node set per line, `#` begins a comment; `-` reads standard input."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the host file {path}: {reason_of(error)}",
            do="Name a file with one node set per line, or - for standard input.",
        ) from error
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [name for line in lines if line for name in parse_node_set(line)]


def _kubernetes_nodes() -> list[dict[str, object]]:
    data = json.loads(_ask(["kubectl", "get", "nodes", "-o", "json"]))
    return cast("list[dict[str, object]]", data.get("items", []))


def kubernetes_targets() -> tuple[list[str], dict[str, str]]:
    """The cluster's nodes by name, and those that are cordoned or not ready."""
    names, out = [], {}
    for node in _kubernetes_nodes():
        meta = cast("dict[str, str]", node.get("metadata", {}))
        spec = cast("dict[str, object]", node.get("spec", {}))
        status = cast("dict[str, list[dict[str, str]]]", node.get("status", {}))
        name = meta.get("name", "")
        if not is_machine_name(name):
            raise UsageError(
                f"kubectl lists node {name!r}, which is not a host name",
                do="Name the hosts with -w.",
            )
        names.append(name)
        ready = [c.get("status") for c in status.get("conditions", []) if c.get("type") == "Ready"]
        if spec.get("unschedulable"):
            out[name] = "Kubernetes: cordoned"
        elif ready != ["True"]:
            out[name] = "Kubernetes: not ready"
    return names, out


def slurm_out_of_service() -> dict[str, str]:
    """Nodes that Slurm holds down, drained or in maintenance, with its reason."""
    out: dict[str, str] = {}
    for line in _ask(["sinfo", "-h", "-N", "-o", "%N|%T|%E"]).splitlines():
        name, _, rest = line.partition("|")
        state, _, reason = rest.partition("|")
        if any(word in state.upper() for word in _SLURM_OUT):
            said = f" ({reason})" if reason and reason != "none" else ""
            out[name] = f"Slurm: {state.rstrip('*$~#!%@^-+').lower()}{said}"
    return out


_SITE_TABLES = {
    "out_of_service": (
        "a table of node sets, each with a reason",
        'Write e.g. "gpu[017-018]" = "RMA 4711".',
    ),
    "switches": (
        "a table of switch systems, each with a node set",
        'Write e.g. sonic = "leaf[01-04]".',
    ),
}


def _site_table(path: Path, name: str) -> dict[str, str]:
    try:
        data = load_toml(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the site file {path}: {reason_of(error)}",
            do="Name another with --site. To propose one: railwright intent init",
        ) from error
    table = data.get(name, {})
    if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
        what, do = _SITE_TABLES[name]
        raise UsageError(f"{path}: {name} must be {what}", do=do)
    return table


def site_out_of_service(path: Path) -> dict[str, str]:
    """`[out_of_service]` of the site file: node set = reason."""
    table = _site_table(path, "out_of_service")
    return {name: f"site: {why}" for nodes, why in table.items() for name in parse_node_set(nodes)}


_SYSTEM = re.compile(r"=([a-z]{1,20})(?:,|$)", re.ASCII)


def parse_switches(texts: list[str], known: Collection[str], site: Path | None) -> dict[str, str]:
    """`leaf[01-04]=sonic,spine[01-02]=eos`: switch -> system. `site` = those of the site file."""
    found: dict[str, str] = {}
    for text in texts:
        pairs = _site_switches(site) if text == "site" else _pairs(text)
        for nodes, system in pairs:
            if system not in known:
                raise UsageError(
                    f"unknown switch system {system!r}",
                    do=f"Choose one of {', '.join(known)}, e.g. --switches leaf[01-04]=sonic.",
                )
            for name in parse_node_set(nodes):
                if found.setdefault(name, system) != system:
                    raise UsageError(
                        f"{name} is given two systems: {found[name]} and {system}",
                        do="Name it once.",
                    )
    return found


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs, at = [], 0
    for match in _SYSTEM.finditer(text):
        pairs.append((text[at : match.start()], match[1]))
        at = match.end()
    if at != len(text) or not pairs or not all(nodes for nodes, _ in pairs):
        raise UsageError(
            f"--switches {text!r} does not name a switch system",
            do="Write e.g. --switches leaf[01-04]=sonic,spine[01-02]=eos, or "
            "--switches site for those of the site file.",
        )
    return pairs


def _site_switches(path: Path | None) -> list[tuple[str, str]]:
    """`[switches]` of the site file: system = node set."""
    table = _site_table(path, "switches") if path else {}
    if not table:
        raise UsageError(
            "the site file has no switches",
            do='Add a table [switches] with e.g. sonic = "leaf[01-04]".',
        )
    return [(nodes, system) for system, nodes in table.items()]


def find_targets(  # noqa: PLR0913 (what the command line can say)
    node_sets: list[str],
    *,
    host_file: str | None = None,
    kubernetes: bool = False,
    state_from: str = "auto",
    site: Path | None = None,
    switches: Collection[str] = (),
) -> Targets:
    """Everything the command line says about which machines, as one ordered list."""
    names = [name for text in node_sets for name in parse_node_set(text)]
    if host_file:
        names += from_file(host_file)
    out: dict[str, str] = {}
    source = "none"
    if kubernetes or state_from == "kubernetes":
        found, out = kubernetes_targets()
        names += found if kubernetes else []
        source = "kubernetes"
    elif state_from == "slurm" or (state_from == "auto" and shutil.which("sinfo")):
        out, source = _slurm_state(strict=state_from == "slurm")
    if site is not None:
        out |= site_out_of_service(site)
        source = f"{source}, site file" if source != "none" else "site file"
    unique = tuple(dict.fromkeys(names))
    both = [name for name in unique if name in switches]
    if both:
        raise UsageError(f"{both[0]} is given both as a host and as a switch", do="Name it once.")
    everyone = (*unique, *switches)
    return Targets(unique, {name: out[name] for name in everyone if name in out}, source)


def _slurm_state(*, strict: bool) -> tuple[dict[str, str], str]:
    try:
        return slurm_out_of_service(), "slurm"
    except UsageError:
        if strict:
            raise
        # sinfo is installed but answers nothing (no controller): then Slurm says nothing.
        return {}, "none"
