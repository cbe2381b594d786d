"""`systemctl show` of the services that a GPU fabric rests on.

systemd 252 prints the properties in the order in which it has them, not in that of the question;
of a pattern that fits no loaded unit it prints nothing.
"""

from collections.abc import Iterator

from lab.fleet.model import HostModel
from lab.fleet.render.base import Said
from lab.fleet.system_model import Service

_PROPERTIES = "Id,LoadState,ActiveState,SubState,UnitFileState"


def _block(service: Service) -> str:
    return (
        f"Id={service.name}.service\nLoadState={service.load}\nActiveState={service.active}\n"
        f"SubState={service.sub}\nUnitFileState={service.file}\n"
    )


def commands(host: HostModel) -> Iterator[Said]:
    """One question for all of them, and the pattern of the programs on NICs."""
    services = host.kernel.services
    asked = [one.name for one in services if "@" not in one.name]
    yield Said(
        f"systemctl show --no-pager -p {_PROPERTIES} {' '.join(asked)} doca-spcx-cc@*.service",
        "\n".join(_block(service) for service in services),
    )
