"""`collect --sudoers`: the smallest sudo policy under which every probe can run."""

from collections.abc import Iterator

from railwright.collect.probe import Probe, read_only_tools


def entries(probes: list[Probe]) -> Iterator[str]:
    """Each command with its exact arguments; a device's address is spelt in character classes."""
    for probe in probes:
        if probe.needs_root == "no":
            continue
        for tool in probe.tools or probe.sudo_tools:
            for path in read_only_tools()[tool].paths:
                yield " ".join([path, *probe.sudo_form()])


def fragment(probes: list[Probe], user: str) -> Iterator[str]:
    """A fragment for /etc/sudoers.d; `visudo -c -f` checks it."""
    name = user or "railwright"
    yield "# Lets Railwright's read-only probes run as root, and nothing else."
    yield f"# Put it into /etc/sudoers.d/railwright (mode 0440); '{name}' is the ssh user."
    yield "# Character classes instead of *: they match one PCI address and nothing more."
    for entry in entries(probes):
        yield f"{name} ALL=(root) NOPASSWD: {entry}"
