"""`collect --sudoers`: the smallest sudo policy under which every probe can run."""

from collections.abc import Iterator

from railwright.collect.probe import (
    NETDEV_CLASS,
    NETDEV_LENGTHS,
    NETDEV_START,
    Probe,
    read_only_tools,
)


def entries(probes: list[Probe]) -> Iterator[str]:
    """Each command with its exact arguments; a device's address is spelt in character classes."""
    for probe in probes:
        if probe.needs_root == "no":
            continue
        form = " ".join(probe.sudo_form())
        forms = [form]
        if "{netdev}" in form:
            names = [NETDEV_START + NETDEV_CLASS * (length - 1) for length in NETDEV_LENGTHS]
            forms = [form.replace("{netdev}", name) for name in names]
        for tool in probe.tools or probe.sudo_tools:
            for path in read_only_tools()[tool].paths:
                yield from (f"{path} {one}" for one in forms)


def fragment(probes: list[Probe], user: str) -> Iterator[str]:
    """A fragment for /etc/sudoers.d; `visudo -c -f` checks it."""
    name = user or "railwright"
    yield "# Lets Railwright's read-only probes run as root, and nothing else."
    yield f"# Put it into /etc/sudoers.d/railwright (mode 0440); '{name}' is the ssh user."
    yield "# Character classes instead of *: they match one address or name of that length."
    for entry in entries(probes):
        yield f"{name} ALL=(root) NOPASSWD: {entry}"
