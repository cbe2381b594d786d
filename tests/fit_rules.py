"""The rules of `railwright fit` a second time, by other means, for the test that runs all combinations.

Nothing of railwright.design is used, nor the loader of the hardware data: rows are taken from the TOML files as they stand.
Plugs, link modes and what PCIe feeds are written here by hand (reference.md B6, B7, B8, B13).
"""

from railwright.toml import load_toml

UNKNOWN = "not documented"

# Which plugs go into which cage (B13). A cage that is not here: nobody knows.
GOES_IN = {
    "OSFP": {"OSFP"},
    "QSFP112": {"QSFP112", "QSFP56", "QSFP28"},
    "QSFP56": {"QSFP56", "QSFP28"},
    "QSFP28": {"QSFP28"},
    "SFP56": {"SFP56", "SFP28"},
    "SFP28": {"SFP28"},
    "OSFP (800G)": {"OSFP", "twin-port OSFP (flat top)"},
    "co-packaged optics": set(),
    "QSFP-DD": {"QSFP-DD", "QSFP56", "QSFP28"},
    "twin-port OSFP (air)": {"twin-port OSFP (finned top)"},
    "twin-port OSFP (liquid)": {"twin-port OSFP (flat top)"},
}
# Ethernet: lanes and Gb/s of each (B7). A speed is their product.
ETHERNET = [(1, 10), (4, 10), (1, 25), (2, 25), (4, 25), (1, 50), (2, 50), (4, 50), (8, 50)]
ETHERNET += [(1, 100), (2, 100), (4, 100), (8, 100), (1, 200), (2, 200), (4, 200)]
# InfiniBand: Gb/s of a lane (B8).
LANE = {
    "SDR": 2.5,
    "DDR": 5,
    "QDR": 10,
    "FDR10": 10,
    "FDR": 14,
    "EDR": 25,
    "HDR": 50,
    "NDR": 100,
    "XDR": 200,
}
# The port that a link feeds (B6, last column), by generation, for 16 lanes.
FEEDS = {3: 100, 4: 200, 5: 400, 6: 800}


def rows(folder, files):
    """The rows of data files, each with what its group says."""
    found = {}
    for file in folder.glob(files):
        for group in load_toml(file.read_text(), file.name)["group"]:
            common = {key: value for key, value in group.items() if key != "row"}
            for name, own in group["row"].items():
                found[name] = {"name": name, **common, **own}
    return found


def infiniband(name):
    """4X NDR -> 4 lanes of 100."""
    lanes, speed = name.split("X ")
    return int(lanes), LANE[speed]


def rates(adapter, protocol):
    """The speeds of an adapter's port."""
    if protocol == "Ethernet":
        return set(adapter["ethernet_gbps"])
    return {lanes * rate for lanes, rate in map(infiniband, adapter["infiniband"])}


def plug(kind, cage):
    """Whether a plug goes into a cage."""
    if cage not in GOES_IN:
        return UNKNOWN
    return "works" if kind in GOES_IN[cage] else "does not"


def breakout(cable, switch):
    """Whether the switch can be split as the cable is."""
    if switch["splits"] == UNKNOWN:
        return "works" if cable["legs"] == 1 else UNKNOWN
    return "works" if cable["legs"] in switch["splits"] else "does not"


def protocols(adapter, cable, switch):
    """What all three speak."""
    own = {
        name
        for name, key in (("Ethernet", "ethernet_gbps"), ("InfiniBand", "infiniband"))
        if adapter[key]
    }
    return own & set(cable["protocols"]) & {switch["protocol"]}


def gaps_at_adapter(adapter, protocol, lanes, rate):
    """How much is not known; None = it cannot."""
    if protocol == "InfiniBand":
        return 0
    if UNKNOWN in (adapter["lanes"], adapter["lane_gbps"]):
        return 1
    return 0 if lanes <= adapter["lanes"] and rate in adapter["lane_gbps"] else None


def gaps_at_cable(cable, lanes, rate):
    """The same of a leg of the cable."""
    if lanes > cable["lanes"] or rate > max(cable["lane_gbps"]):
        return None
    return int(rate not in cable["lane_gbps"])


def gaps_at_switch(switch, legs, lanes, rate, name):
    """The same of a port of the switch; a name is an InfiniBand mode's."""
    if switch["lanes"] != UNKNOWN and lanes * legs > switch["lanes"]:
        return None
    if name:
        gaps = int(switch["infiniband"] == UNKNOWN or name in switch.get("unsure", ()))
        can = gaps or name in switch["infiniband"]
    else:
        gaps = int(switch["lane_gbps"] == UNKNOWN)
        can = lanes * rate in switch["ethernet_gbps"] and (gaps or rate in switch["lane_gbps"])
    return gaps + (switch["lanes"] == UNKNOWN) if can else None


def link(adapter, cable, switch, protocol):
    """The state of the link and its speed: by trying each mode."""
    sure, maybe = {0}, {0}
    if protocol == "InfiniBand":
        modes = [(*infiniband(name), name) for name in adapter["infiniband"]]
    else:
        modes = [(*mode, "") for mode in ETHERNET if mode[0] * mode[1] in adapter["ethernet_gbps"]]
    for lanes, rate, name in modes:
        gaps = [
            gaps_at_adapter(adapter, protocol, lanes, rate),
            gaps_at_cable(cable, lanes, rate),
            gaps_at_switch(switch, cable["legs"], lanes, rate, name),
        ]
        if None not in gaps:
            (maybe if any(gaps) else sure).add(lanes * rate)
    top = max(rates(adapter, protocol))
    if max(sure) == top:
        return "works", top
    if max(maybe) > max(sure):
        return UNKNOWN, None
    return ("limited", max(sure)) if max(sure) else ("does not", None)


def pcie(adapter, slot, form):
    """What the slot does to the card: by the port that each link feeds, not by its bytes."""
    if form != adapter["form"]:
        return "does not"
    if len(slot) > 1 and adapter["second"] == "none":
        return "does not"
    own = [(adapter["pcie_generation"], adapter["pcie_width"])]
    own += (
        [(adapter["second_generation"], adapter["second_width"])]
        if adapter["second"] != "none"
        else []
    )
    fed, gap = 0, False
    for (generation, width), (card_generation, card_width) in zip(slot, own, strict=False):
        if card_generation == UNKNOWN:
            gap = True
        else:
            fed += FEEDS[min(generation, card_generation)] * min(width, card_width) / 16
    wanted = max(max(rates(adapter, one), default=0) for one in ("Ethernet", "InfiniBand"))
    if fed >= wanted * adapter["ports"]:
        return "works"
    return UNKNOWN if gap else "limited"
