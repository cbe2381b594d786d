"""`collect --sudoers`: the smallest sudo policy under which every probe can run."""

from collections.abc import Iterator

from rich.console import Console

from railwright.collect.probe import Probe, read_only_tools


def entries(probes: list[Probe]) -> Iterator[str]:
    """Each command with its exact arguments; a device's address is spelt in character classes."""
    for probe in probes:
        if probe.needs_root == "no":
            continue
        for tool in probe.tools or probe.sudo_tools:
            for path in read_only_tools()[tool].paths:
                yield " ".join([path, *probe.sudo_form()])


def print_sudoers(console: Console, probes: list[Probe], user: str) -> None:
    """A fragment for /etc/sudoers.d; `visudo -c -f` checks it."""
    name = user or "railwright"
    console.print("# Lets Railwright's read-only probes run as root, and nothing else.")
    console.print(f"# Put it into /etc/sudoers.d/railwright (mode 0440); '{name}' is the ssh user.")
    console.print("# Character classes instead of *: they match one PCI address and nothing more.")
    for entry in entries(probes):
        console.print(f"{name} ALL=(root) NOPASSWD: {entry}", soft_wrap=True)
