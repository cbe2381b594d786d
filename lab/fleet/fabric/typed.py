"""What is typed at a switch that is up, and what it prints: the answers of the model as commands.

    typed(fabric, switch, Routing(fabric))      {"show version | json": "{ ...", ...}

Written from the systems' own manuals and not from what asks: a command that is asked in another
way is one that the switch does not know.
"""

from collections.abc import Iterator

from lab.fleet.fabric import eos, sonic, sonic_more
from lab.fleet.fabric.answers import answers
from lab.fleet.fabric.model import Fabric, Switch
from lab.fleet.fabric.routes import Routing

# How a system is told to print what a program can read.
_TAILS = {"sonic": "", "cumulus": " -o json", "eos": " | json", "onyx": " | json-print"}
_FRR = "vtysh -c 'show ip route vrf all json'"
_ROUTES = {"sonic": _FRR, "cumulus": _FRR, "onyx": "show ip route"}
_DUMP = "sonic-db-dump -n {database} -k '{pattern}' -y"
# Asked table by table, for the rest of a configuration holds secrets. `dump` answers any other.
_PATTERNS = (
    *("DEVICE_METADATA|localhost", "PORT|*", "PORTCHANNEL|*", "PORTCHANNEL_MEMBER|*"),
    *("VLAN_MEMBER|*", "PORT_QOS_MAP|*", "*_TO_*_MAP|*", "MAP_PFC_PRIORITY_TO_QUEUE|*", "QUEUE|*"),
    *("SCHEDULER|*", "WRED_PROFILE|*", "BUFFER_*|*", "CABLE_LENGTH|*", "PFC_WD*|*"),
)
WAYS = {"sonic": "shell", "cumulus": "shell", "eos": "terminal", "onyx": "terminal"}
# Name of the file with the whole CONFIG_DB of a switch, one record per key.
CONFIGURATION = "config_db.json"


def typed(fabric: Fabric, switch: Switch, routing: Routing) -> dict[str, str]:
    """Command as it is typed -> what it prints."""
    found: dict[str, str] = {}
    for said in answers(fabric, switch, routing):
        if said.probe.endswith("_route") and switch.system in _ROUTES:
            found[_ROUTES[switch.system]] = said.text
        elif said.command == eos.QOS_TEXT:
            found[said.command] = said.text
        elif said.command:
            found[said.command + _TAILS[switch.system]] = said.text
    if switch.system == "sonic":
        found |= dict(_sonic(fabric, switch))
    elif switch.system == "eos":
        found["show interfaces counters errors | json"] = eos.error_counters(switch)
    return found


def _sonic(fabric: Fabric, switch: Switch) -> Iterator[tuple[str, str]]:
    tables = sonic.config_db(switch, others=True)
    yield from sonic_more.more(fabric, switch, tables)
    known, force = sonic_more.entries(tables), sonic_more.in_force(sonic.running(switch))
    yield sonic_more.APPLICATION_DUMP, sonic_more.dump(force, sonic_more.APPLICATION)
    for pattern in _PATTERNS:
        told = _DUMP.format(database="CONFIG_DB", pattern=pattern)
        yield told, sonic_more.dump(known, pattern)
    if not sonic.wred_tables(switch):
        yield "show ecn", ""


def files(switch: Switch) -> dict[str, str]:
    """What else lies on the switch, for programs that do more than print."""
    if switch.system != "sonic":
        return {}
    known = sonic_more.entries(sonic.config_db(switch, others=True))
    return {CONFIGURATION: sonic_more.dump(known, "*")}
