"""Files that name modules to be loaded at boot: lists, and what one module asks of another."""

from lab.fleet.model import HostModel


def files(host: HostModel) -> dict[str, str]:
    """Each with a remark, as people write them; a list has one name in a line."""
    found: dict[str, str] = {}
    for file, line in host.kernel.boot_modules:
        found.setdefault(file, "# needed by jobs\n")
        found[file] += f"{line}\n"
    return found
