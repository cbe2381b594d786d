"""railwright fit: the known traps by hand, and all combinations against rules written a second time."""

import itertools
import json
from pathlib import Path

import fit_rules as rules
import jsonschema
import pytest
from conftest import REPOSITORY
from typer.testing import CliRunner

import railwright.hardware
from railwright.cli import program
from railwright.design import names
from railwright.design.build import STATES, Build, Slot, Verdict
from railwright.design.fit import fit
from railwright.design.parts_list import Wanted, annotated, build_of, judge_list, read_list
from railwright.errors import UsageError
from railwright.hardware.parts import adapters, cables, fibres, switches, transceivers
from railwright.hardware.switch_asics import asic_of, asics
from railwright.report.fit import fit_status
from tools import fit_pages

DATA = Path(railwright.hardware.__file__).parent


def judged(adapter: str, **words: str) -> Verdict:
    return fit(build_of(Wanted(adapter, **words)))


def states(verdict: Verdict) -> dict[str, str]:
    return {item.what: item.state for item in verdict.items}


# ---- the traps, by hand

# What is bought, what must be said of which question, and the exit status.
CASES = [
    ("dual 200G in Gen4 x16", "MCX755106AS-HEAT", {"slot": "gen4x16"}, {"PCIe": "limited"}, 1),
    ("one port of it is enough", "MCX755106AS-HEAT", {"slot": "gen4x16", "ports": "1"}, {"PCIe": "works"}, 0),
    ("dual 200G in Gen5 x16", "MCX755106AS-HEAT", {"slot": "gen5x16"}, {"PCIe": "works"}, 0),
    ("Gen5 x8 is no more than Gen4 x16", "MCX755106AS-HEAT", {"slot": "gen5x8"}, {"PCIe": "limited"}, 1),
    ("both interfaces on Gen4", "MCX755106AS-HEAT", {"slot": "gen4x16+gen4x16"}, {"second link": "works", "PCIe": "works"}, 0),
    ("no second interface", "MCX713106AS-VEAT", {"slot": "gen4x16+gen4x16"}, {"second link": "does not"}, 1),
    ("two halves in one slot, not split", "MCX75210AAS-NEAT", {"slot": "gen5x16"}, {"PCIe": "limited"}, 1),
    ("two halves in one slot, split", "MCX75210AAS-NEAT", {"slot": "gen5x8+gen5x8"}, {"PCIe": "works"}, 0),
    ("400G in Gen4 x16", "MCX75310AAS-NEAT", {"slot": "gen4x16"}, {"PCIe": "limited"}, 1),
    ("200G in Gen4 x16", "MCX75310AAS-HEAT", {"slot": "gen4x16"}, {"PCIe": "works"}, 0),
    ("ConnectX-8 on a Gen5 host", "C8180", {"slot": "gen5x16"}, {"PCIe": "limited"}, 1),
    ("ConnectX-8 on two Gen5 slots", "C8180", {"slot": "gen5x16+gen5x16"}, {"PCIe": "works"}, 0),
    ("two ports that its own Gen3 cannot feed", "MCX556A-ECAT", {"slot": "gen5x16"}, {"PCIe": "limited"}, 1),
    ("its Gen4 sister", "MCX516A-CDAT", {"slot": "gen5x16"}, {"PCIe": "works"}, 0),
    ("100G in Gen4 x8", "MCX651105A-EDAT", {"slot": "gen4x16"}, {"PCIe": "works"}, 0),
    ("an OCP card in a PCIe slot", "MCX75343AMS-NEAC", {"slot": "gen5x16"}, {"slot": "does not"}, 1),
    ("an OCP card in its slot", "MCX75343AMS-NEAC", {"slot": "ocp3-gen5x16"}, {"PCIe": "works"}, 0),
    ("a list and a name that disagree", "MCX654105A-HCAT", {"slot": "gen4x16"}, {"PCIe": "not documented"}, 3),
    ("QSFP-DD is not QSFP112", "MCX715105AS-WEAT", {"cable": "any-QSFP-DD", "switch": "SN5400"}, {"adapter end": "does not", "switch end": "works"}, 1),
    ("QSFP112 is not for switches", "MCX715105AS-WEAT", {"cable": "any-QSFP112", "switch": "SN5400"}, {"adapter end": "works", "switch end": "does not"}, 1),
    ("QSFP56 between them is 200G", "MCX715105AS-WEAT", {"cable": "any-QSFP56", "switch": "SN5400"}, {"adapter end": "works", "switch end": "works", "link": "limited"}, 1),
    ("single-port OSFP in a QSFP112 card", "MCX715105AS-WEAT", {"cable": "MCP7Y00", "switch": "SN5600"}, {"adapter end": "does not"}, 1),
    ("single-port OSFP in a BlueField", "900-9D3D4-00EN-HA0", {"cable": "MCP7Y50", "switch": "SN5600"}, {"adapter end": "does not"}, 1),
    ("QSFP112 in an OSFP card", "MCX75310AAS-NEAT", {"cable": "MCP7Y10", "switch": "QM9700"}, {"adapter end": "does not"}, 1),
    ("single-port OSFP in an OSFP card", "MCX75310AAS-NEAT", {"cable": "MCP7Y00-N002", "switch": "QM9700"}, {"adapter end": "works", "link": "works"}, 0),
    ("a flat top in an air-cooled switch", "MCX75310AAS-NEAT", {"cable": "MCP7Y00-N001-FLT", "switch": "QM9700"}, {"switch end": "does not"}, 1),
    ("a cable for two switches", "MCX75310AAS-NEAT", {"cable": "MCP4Y10", "switch": "QM9700"}, {"adapter end": "does not"}, 1),
    ("1:4 splitter halves a 400G port", "MCX715105AS-WEAT", {"cable": "MCP7Y40", "switch": "SN5600"}, {"breakout": "works", "link": "limited"}, 1),
    ("1:4 splitter is what a 200G port wants", "MCX755106AS-HEAT", {"cable": "MCP7Y40", "switch": "SN5600"}, {"breakout": "works", "link": "works"}, 0),
    ("1:4 with a switch that is unknown there", "MCX653105A-HDAT", {"cable": "MFS1S50", "switch": "SN3700", "protocol": "ethernet"}, {"breakout": "not documented"}, 1),
    ("InfiniBand card, Ethernet switch", "MCX75510AAS-NEAT", {"cable": "MCP7Y00", "switch": "SN5600"}, {"protocol": "does not"}, 1),
    ("Ethernet card, InfiniBand switch", "MCX713106AS-VEAT", {"cable": "MCP7Y40", "switch": "QM9700"}, {"protocol": "does not"}, 1),
    ("Ethernet module on InfiniBand", "MCX75310AAS-NEAT", {"cable": "MMA4Z00-NS-T+MFP7E10+MMA4Z00-NS400-T", "switch": "QM9700"}, {"protocol": "does not"}, 1),
    ("Firecode at 200G", "MCX755106AS-HEAT", {"cable": "MCP7Y40", "switch": "SN5600", "adapter_fec": "fc", "switch_fec": "fc"}, {"error correction": "does not"}, 1),
    ("RS at one end, none at the other", "MCX755106AS-HEAT", {"cable": "MCP7Y40", "switch": "SN5600", "adapter_fec": "rs", "switch_fec": "none"}, {"error correction": "does not"}, 1),
    ("RS at both ends", "MCX755106AS-HEAT", {"cable": "MCP7Y40", "switch": "SN5600", "adapter_fec": "rs", "switch_fec": "rs"}, {"error correction": "works"}, 0),
    ("RS and none at 25G lanes", "MCX653105A-HDAT", {"cable": "any-QSFP28", "switch": "SN2700", "adapter_fec": "rs", "switch_fec": "none"}, {"link": "limited", "error correction": "does not"}, 1),
    ("HDR card, NDR switch, 40 m of fibre", "MCX653105A-HDAT", {"cable": "MFA7U40", "switch": "QM9700", "length_m": "40"}, {"HDR to NDR": "limited"}, 1),
    ("the same, 20 m", "MCX653105A-HDAT", {"cable": "MFA7U40", "switch": "QM9700", "length_m": "20"}, {"HDR to NDR": None}, 1),
    ("NDR card, HDR switch, 40 m of fibre", "MCX755106AS-HEAT", {"cable": "MFS1S00-H", "switch": "QM8700", "length_m": "40"}, {"HDR to NDR": "limited"}, 1),
    ("copper does not care", "MCX653105A-HDAT", {"cable": "MCP7Y60", "switch": "QM9700", "length_m": "2"}, {"HDR to NDR": None, "link": "works"}, 0),
    ("copper that is not sold that long", "MCX653105A-HDAT", {"cable": "MCP7Y60", "switch": "QM9700", "length_m": "3"}, {"length": "does not"}, 1),
    ("multimode reaches 50 m", "MCX715105AS-WEAT", {"cable": "MMA4Z00-NS+MFP7E10+MMA1Z00-NS400-T", "switch": "SN5600", "length_m": "51"}, {"length": "does not"}, 1),
    ("optics within their reach and power", "MCX715105AS-WEAT", {"cable": "MMA4Z00-NS+MFP7E10+MMA1Z00-NS400-T", "switch": "SN5600", "length_m": "50"}, {"power at adapter": "works", "power at switch": "works", "link": "works"}, 0),
    ("split fibre halves the modules", "MCX715105AS-WEAT", {"cable": "MMA4Z00-NS+MFP7E20+MMA1Z00-NS400-T", "switch": "SN5600"}, {"link": "limited"}, 1),
    ("B3240 without its power cable", "900-9D3B6-00CN-AB0", {"slot": "gen5x16", "ports": "1"}, {"PCIe": "works", "power cable": "not documented"}, 3),
    ("B3240 with it", "900-9D3B6-00CN-AB0", {"slot": "gen5x16", "ports": "1", "external_power": "8-pin atx"}, {"power cable": "works"}, 0),
    ("B3240 where there is none", "900-9D3B6-00CN-AB0", {"slot": "gen5x16", "ports": "1", "external_power": "none"}, {"power cable": "does not"}, 1),
    ("what the guide says of air", "MCX755106AS-HEAT", {"slot": "gen5x16", "airflow_lfm": "350"}, {"airflow": "not documented"}, 3),
    ("power of a card that is documented", "MCX75310AAS-NEAT", {"slot_power_w": "75"}, {"power": "works"}, 0),
    ("a card alone says nothing", "MCX75310AAS-NEAT", {}, {"build": "not documented"}, 3),
    ("nor does it with a length", "MCX75310AAS-NEAT", {"length_m": "3"}, {"build": "not documented"}, 3),
    ("too little power", "MCX75310AAS-NEAT", {"slot_power_w": "24"}, {"power": "does not"}, 1),
    ("card and module together", "MCX75310AAS-NEAT", {"slot_power_w": "30", "cable": "MMS4X00-NS+MFP7E30+MMS4X00-NS400"}, {"power": "does not"}, 1),
    ("a switch whose slower rates nobody has published", "MCX75310AAS-NEAT", {"cable": "MCP7Y00", "switch": "Q3400-RA"}, {"switch end": "works", "link": "not documented"}, 3),
    ("a cage of which nothing is known", "BCM957608-P1400GDF00", {"cable": "MCP7Y10", "switch": "SN5600"}, {"adapter end": "not documented", "link": "works"}, 3),
    ("a switch without cages", "C8180", {"cable": "MCA7K10", "switch": "Q3450-LD"}, {"switch end": "does not"}, 1),
    ("two ports that its maker does not add up", "E810-CQDA2", {"slot": "gen4x16"}, {"PCIe": "works", "card": "limited"}, 1),
    ("one of them", "E810-CQDA2", {"slot": "gen4x16", "ports": "1"}, {"PCIe": "works", "card": None}, 0),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_traps(case):
    _, adapter, words, expected, status = case
    verdict = judged(adapter, **words)
    found = states(verdict)
    assert {what: found.get(what) for what in expected} == expected
    assert fit_status([verdict]) == status


# predict.md, section 1: model Gb/s of PCIe links, packets of 256 and 512 bytes.
@pytest.mark.parametrize(
    ("adapter", "slot", "payload", "gbps"),
    [
        ("MCX75310AAS-NEAT", "gen4x16", "256", 229.9),
        ("MCX75310AAS-NEAT", "gen4x16", "512", 240.1),
        ("MCX75310AAS-HEAT", "gen4x8", "256", 114.9),
        ("MCX75310AAS-HEAT", "gen3x16", "256", 114.9),
        ("MCX75310AAS-HEAT", "gen3x8", "256", 57.5),
        ("MCX75310AAS-HEAT", "gen3x8", "512", 60.0),
    ],
)
def test_what_a_slot_carries(adapter, slot, payload, gbps):
    verdict = judged(adapter, slot=slot, max_payload=payload)
    assert verdict.state == "limited"
    assert verdict.gbps == pytest.approx(gbps, abs=0.1)


def test_the_whole_is_the_worst_and_the_least():
    verdict = judged("MCX715105AS-WEAT", slot="gen4x8", cable="MCP7Y40", switch="SN5600")
    assert verdict.gbps == pytest.approx(114.9, abs=0.1)  # the link would give 200
    assert verdict.state == "limited"
    verdict = judged("MCX715105AS-WEAT", slot="gen4x16", cable="MCP7Y40", switch="SN5600")
    assert verdict.gbps == 200  # the slot would give 229.9
    both = judged("MCX755106AS-HEAT", slot="gen4x16", airflow_lfm="350")
    assert (both.state, fit_status([both])) == ("not documented", 1)


def test_plugs_that_nobody_named_are_not_taken_for_none():
    (item,) = judged("MCX75310AAS-NEAT", slot_power_w="75").items
    assert item.why == (
        "the card draws 24.9 W (typical) and its plugs what no cable says; the slot gives 75 W"
    )


def test_both_ports_count_in_a_limited_link():
    verdict = judged("MCX755106AS-HEAT", cable="any-QSFP28", switch="SN2700")
    assert (verdict.state, verdict.gbps) == ("limited", 200)


# ---- all combinations, against rules written a second time

SLOTS = [((5, 16),), ((4, 16),), ((4, 16), (4, 16)), ((3, 8),), ((5, 8), (5, 8)), ((6, 16),)]


def optical_links():
    kinds = transceivers().values()
    for at_switch, fibre, at_adapter in itertools.product(kinds, fibres().values(), kinds):
        if at_switch.fibre == fibre.fibre == at_adapter.fibre:
            yield names.optical(at_switch, fibre, at_adapter)


def as_row(cable):
    """A composed link, as the second set of rules takes it."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in vars(cable).items()
    }


def all_wires():
    """Every cable and every optical link, with the row that the second set of rules takes."""
    raw = rules.rows(DATA, "cables.toml")
    return [(cable, raw[cable.name]) for cable in cables().values()] + [
        (cable, as_row(cable)) for cable in optical_links()
    ]


FAMILIES = sorted({adapter.family for adapter in adapters().values()})


def cards_of(family):
    """One card of each kind: those that differ in name, slot or cryptography take the same cables."""
    alike = {
        (one.cage, one.ports, one.lanes, one.lane_gbps, one.ethernet_gbps, one.infiniband, one.module_w): one
        for one in adapters().values()
        if one.family == family
    }  # fmt: skip
    return list(alike.values())


def test_there_are_tens_of_thousands_of_combinations():
    assert len(adapters()) * len(all_wires()) * len(switches()) > 30_000


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.one_in(4)
def test_all_combinations_agree_with_the_second_set_of_rules(family):
    raw = {kind: rules.rows(DATA, f"{kind}*.toml") for kind in ("adapters", "switches")}
    cards = cards_of(family)
    pairs: dict[tuple[str, str], Verdict] = {}
    for adapter, (cable, wire), switch in itertools.product(
        cards, all_wires(), switches().values()
    ):
        card, leaf = raw["adapters"][adapter.name], raw["switches"][switch.name]
        verdict = fit(Build(adapter, cable=cable, switch=switch))
        where = (adapter.name, cable.name, switch.name)
        _agrees(verdict, card, wire, leaf, where)
        _whole_is_its_items(verdict)
        for part in (cable, switch):
            key = (adapter.name, part.name)
            if key not in pairs:
                both = {"cable": part} if part is cable else {"switch": part}
                pairs[key] = fit(Build(adapter, **both))
            _no_contradiction(pairs[key], verdict)


def _agrees(verdict, card, wire, leaf, where):
    expected = {
        "adapter end": rules.plug(wire["adapter_plug"], card["cage"]),
        "switch end": rules.plug(wire["switch_plug"], leaf["cage"]),
        "breakout": rules.breakout(wire, leaf),
        "link": None,
    }
    common, gbps = rules.protocols(card, wire, leaf), None
    expected["protocol"] = "works" if common else "does not"
    if common:
        expected["link"], gbps = rules.link(card, wire, leaf, *common)
    found = states(verdict)
    assert {what: found.get(what) for what in expected} == expected, where
    if found.get("link") == "limited":
        assert verdict.gbps in (None, gbps * card["ports"]), where


@pytest.mark.whole
def test_all_cards_in_all_slots_agree_with_the_second_set_of_rules():
    raw = rules.rows(DATA, "adapters_*.toml")
    for adapter, links, form in itertools.product(adapters().values(), SLOTS, ("PCIe", "OCP 3.0")):
        build = Build(adapter, Slot(form, links))
        found = [item for item in fit(build).items if item.what in ("slot", "second link", "PCIe")]
        worst = max((item.state for item in found), key=STATES.index)
        assert worst == rules.pcie(raw[adapter.name], links, form), (adapter.name, links, form)


def _whole_is_its_items(verdict):
    found = {item.state for item in verdict.items}
    assert verdict.state in found
    if verdict.state == "works":
        assert found == {"works"}
        assert fit_status([verdict]) == 0
    if "not documented" in found:
        assert verdict.state in ("not documented", "does not")
        assert fit_status([verdict]) != 0
    for item in verdict.items:
        assert item.sources, item
        assert item.state == "limited" or item.gbps is None


def _no_contradiction(of_pair, verdict):
    """Of a pair and the whole: what works together works in pairs, what fails in a pair fails in the whole."""
    pair, whole = states(of_pair), states(verdict)
    if verdict.state == "works":
        assert of_pair.state in ("works", "not documented")
    for what, state in pair.items():
        if what not in whole:
            assert whole["protocol"] == "does not" or what == "error correction", what
        elif state == "does not":
            assert whole[what] == "does not"
        elif whole[what] == "works":
            assert state in ("works", "not documented")
    if of_pair.gbps is not None and verdict.gbps is not None:
        assert verdict.gbps <= of_pair.gbps


# ---- names


def test_a_letter_tells_sisters_apart() -> None:
    assert names.cable("MCP1650-H002E26").name == "MCP1650-H"
    assert names.cable("mcp1650-v01ae30").name == "MCP1650-V"
    assert names.cable("MFS1S00-H020E-LL").name == "MFS1S00-H"
    with pytest.raises(UsageError, match="it is sold as MCP1650-V and MCP1650-H"):
        names.cable("MCP1650")


@pytest.mark.parametrize("short", sorted({row.called for row in adapters().values() if row.called}))
def test_a_short_name_stands_for_cards_that_fit_alike(short: str) -> None:
    rows = [row for row in adapters().values() if row.called == short]
    alike = {
        (r.ports, r.cage, r.lanes, r.ethernet_gbps, r.infiniband, r.pcie_width, r.second, r.external_power)
        for r in rows
    }  # fmt: skip
    assert len(alike) == 1
    assert names.adapter(short.lower()) == rows[0]


# What mlxconfig prints, and what it is sold as.
@pytest.mark.parametrize(
    ("printed", "card"),
    [
        ("900-9X81E-00EX-ST0_Ax", "C8180"),
        ("900-9X81Q-00CN-ST0", "C8240"),
        ("900-9X766-003N-SQ0", "MCX75310AAS-NEAT"),
        ("900-9X766-003N-ST0", "MCX75310AAS-HEAT"),
        ("900-9D3D4-00NN-HA0_Ax", "900-9D3D4-00NN-HA0"),
        ("MCX516A-CDA_Ax_Bx", "MCX516A-CDAT"),
        ("MCX755206AS-NEA_Ax", "MCX755206AS-NEAT"),
        ("Pollara 400", "POLLARA-1Q400P"),
    ],
)
def test_a_card_has_more_than_one_number(printed: str, card: str) -> None:
    assert names.adapter(printed).name == card


def test_every_number_is_one_card() -> None:
    numbers = [one for row in adapters().values() for one in (row.name, *row.also.split())]
    assert len(numbers) == len(set(numbers))


def test_another_lot_of_a_card_is_never_refused() -> None:
    lot = names.adapter("900-9X81Q-00CN-STA")
    assert (lot.name, lot.cage) == ("900-9X81Q-00CN-STA", "QSFP112")
    verdict = fit(Build(lot, cable=names.cable("MCP7Y00-N001")))
    assert states(verdict)["adapter end"] == "not documented"


@pytest.mark.parametrize("name", sorted(switches()))
def test_the_chip_of_every_switch_is_in_the_list(name: str) -> None:
    assert switches()[name].asic == asic_of(name)
    assert asics()[asic_of(name)].protocol == switches()[name].protocol


def test_nothing_is_refused_by_the_beginning_of_a_name() -> None:
    known, guessed = names.cable("MCP7Y00-N001"), names.cable("MCP7Y00-QSFP")
    for cable, state in ((known, "does not"), (guessed, "not documented")):
        verdict = fit(Build(names.adapter("MCX715105AS-WEAT"), cable=cable))
        assert states(verdict)["adapter end"] == state
    assert guessed.name == "MCP7Y00-QSFP"


def test_part_numbers_may_say_more():
    assert names.cable("mcp7y10-n003").name == "MCP7Y10"
    assert names.cable("MCP7Y00-N01A-FLT").name == "MCP7Y00-FLT"
    assert names.cable("MMA4Z00-NS+MFP7E10-N010+MMA1Z00-NS400-T").legs == 2
    assert names.switch("MQM9700-NS2F").name == "QM9700"
    assert names.switch("MSN5600").name == "SN5600"
    for name in ("mcx755106as-heat", "MCX755106AS-HEA_Ax", "MT_0000000834"):
        assert names.adapter(name).name == "MCX755106AS-HEAT"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"adapter": "MCX755106AX-HEAT"}, "MCX755106AS-HEAT"),
        ({"adapter": "MCX75310AAS-NEAT", "switch": "SN5700"}, "SN5600"),
        ({"adapter": "MCX75310AAS-NEAT", "cable": "MCP7Y11"}, "MCP7Y10"),
        ({"adapter": "MCX75310AAS-NEAT", "cable": "MMA4Z00-NS+MFP7E10"}, "three"),
        ({"adapter": "MCX75310AAS-NEAT", "cable": "MMA4Z00-NS+MFP7E30+MMA4Z00-NS400"}, "same type"),
        ({"adapter": "MCX75310AAS-NEAT", "slot": "x16"}, "gen5x16"),
        ({"adapter": "MCX75310AAS-NEAT", "slot": "gen9x16"}, "gen5x16"),
        ({"adapter": "MCX75310AAS-NEAT", "slot": "gen5x12"}, "gen5x16"),
        ({"adapter": "MCX75310AAS-NEAT", "ports": "2"}, "in use"),
        ({"adapter": "MCX75310AAS-NEAT", "ports": "0"}, "in use"),
        ({"adapter": "MCX75310AAS-NEAT", "length_m": "5m"}, "without its unit"),
        ({"adapter": "MCX75310AAS-NEAT", "length_m": "-1"}, "without its unit"),
        ({"adapter": "MCX75310AAS-NEAT", "length_m": "nan"}, "without its unit"),
        ({"adapter": "MCX75310AAS-NEAT", "max_payload": "300"}, "256"),
        ({"adapter": "MCX75310AAS-NEAT", "protocol": "IPX"}, "InfiniBand"),
    ],
)
def test_words_that_mean_nothing(words, says):
    with pytest.raises(UsageError) as error:
        build_of(Wanted(**words))
    assert says in error.value.do


# ---- parts lists


def test_a_parts_list_comes_back_with_verdicts(tmp_path):
    file = tmp_path / "parts.csv"
    file.write_text(
        "\ufeffrack, adapter,slot,cable,switch\n"
        "r1,MCX75310AAS-NEAT,gen5x16,MCP7Y00,QM9700\n"
        '"r2, left",MCX755106AS-HEAT,gen4x16,,\n'
        "r3,MCX755106AX-HEAT,gen4x16,,\n"
        ",,,,\n"  # as spreadsheets leave them
        "r4,MCX75310AAS-NEAT,,,\n"
    )
    columns, lines = read_list(file)
    assert columns == ["rack", "adapter", "slot", "cable", "switch"]
    out = [annotated(line, found) for line, found in judge_list(lines)]
    assert [line["verdict"] for line in out] == ["works", "limited", *2 * ["not documented"]]
    assert [line["gbps"] for line in out] == ["", "229.9", "", ""]
    assert [line["not_judged"] for line in out] == [
        "length, slot power, airflow",
        "cable, switch, slot power, airflow",
        "",
        "slot, cable, switch, slot power, airflow",
    ]
    assert out[1]["rack"] == "r2, left"
    assert "MCX755106AS-HEAT" in out[2]["why"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("card\nMCX75310AAS-NEAT\n", "no column adapter"),
        ("", "no column adapter"),
        ("adapter,verdict\nMCX75310AAS-NEAT,fine\n", "already has a column verdict"),
        ("adapter,slot\nMCX75310AAS-NEAT,x16\n", "line 2: 'x16' is not a slot"),
        ("adapter;slot\nMCX75310AAS-NEAT;gen5x16\n", "no column adapter"),
        ('adapter,slot\n\n"MCX75310AAS-NEAT\n",gen5x16\n,gen4x16\n', "line 5: no adapter given"),
    ],
)
def test_a_parts_list_that_cannot_be_read(tmp_path, text, says):
    file = tmp_path / "parts.csv"
    file.write_text(text)
    with pytest.raises(UsageError, match=says):
        judge_list(read_list(file)[1])


def test_half_a_list_is_not_printed(tmp_path):
    file = tmp_path / "parts.csv"
    file.write_text("adapter,slot\nMCX75310AAS-NEAT,gen5x16\nMCX75310AAS-NEAT,x16\n")
    done = CliRunner().invoke(program(), ["fit", "--parts", str(file)])
    assert isinstance(done.exception, UsageError)
    assert done.stdout == ""


def test_a_list_without_a_line_is_no_success(tmp_path):
    file = tmp_path / "parts.csv"
    file.write_text("adapter,slot\n")
    assert CliRunner().invoke(program(), ["fit", "--parts", str(file)]).exit_code == 3


# ---- for programs


def schema(name):
    return json.loads((REPOSITORY / f"docs/schemas/{name}-1.json").read_text("utf-8"))


def test_json_of_a_build_and_of_a_list(tmp_path):
    line = "fit MCX755106AS-HEAT --slot gen4x16 --airflow 350 --format json"
    done = CliRunner().invoke(program(), line.split())
    told = json.loads(done.stdout)
    jsonschema.validate(told, schema("fit"))
    assert told["exit_status"] == done.exit_code == 1
    (build,) = told["builds"]
    assert build["asked"] == {
        "adapter": "MCX755106AS-HEAT",
        "slot": "gen4x16",
        "airflow_lfm": "350",
    }
    assert (build["verdict"], round(build["gbps"], 1)) == ("not documented", 229.9)
    assert {item["what"]: item["state"] for item in build["items"]} == {
        "PCIe": "limited",
        "airflow": "not documented",
    }
    assert {key.partition(":")[0] for item in build["items"] for key in item["sources"]} == {
        *told["sources"]
    }
    file = tmp_path / "parts.csv"
    file.write_text("adapter,slot\nMCX75310AAS-NEAT,gen5x16\nMCX75310AAX-NEAT,gen5x16\n")
    done = CliRunner().invoke(program(), ["fit", "--parts", str(file), "--format", "json"])
    told = json.loads(done.stdout)
    jsonschema.validate(told, schema("fit"))
    assert [one["verdict"] for one in told["builds"]] == ["works", "not documented"]
    assert told["exit_status"] == done.exit_code == 3


def test_json_of_hardware():
    told = json.loads(CliRunner().invoke(program(), ["hardware", "--format", "json"]).stdout)
    jsonschema.validate(told, schema("hardware"))
    assert len([one for one in told["parts"] if one["kind"] == "adapter"]) == len(adapters())
    line = ["hardware", "mcx755106as-heat", "--format", "json"]
    (part,) = json.loads(CliRunner().invoke(program(), line).stdout)["parts"]
    assert (part["values"]["ports"], part["values"]["airflow_lfm"]) == (2, "not documented")


# ---- on the command line


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("fit MCX75310AAS-NEAT --slot gen5x16", 0, "Works."),
        ("fit MCX755106AS-HEAT --slot gen4x16", 1, "Works, limited to 229.9 Gb/s."),
        ("fit MCX75310AAS-NEAT --cable MCP7Y10", 1, "Does not work."),
        ("fit MCX75310AAS-NEAT --airflow 300", 3, "Not documented: it cannot be said to work."),
        ("fit MCX755106AS-HEAT --slot gen4x16 --airflow 300", 1, "at best limited to 229.9 Gb/s."),
        ("fit MCX653105A-HDAT --slot gen4x16 --sources", 0, "KCO: github.com/KCORES"),
        (
            "fit MCX755106AS-HEAT --cable MFS1S00-H --switch QM8700 --length 40",
            1,
            "cannot be said to work",
        ),
        ("hardware MT_0000000834", 0, "MCX755106AS-HEAT"),
        ("hardware sn5600", 0, "twin-port OSFP (air)"),
        ("hardware switch", 0, "Quantum-3"),
        ("hardware Measurement", 0, "it cannot be looked up again"),
        ("hardware", 0, "4X NDR"),
    ],
)
def test_what_the_commands_say(line, status, says):
    done = CliRunner().invoke(program(), line.split())
    assert says in done.stdout
    assert done.exit_code == status


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("fit", "no adapter given"),
        (["fit", ""], "no adapter given"),
        ("fit MCX75310AAS-NEAT --parts x.csv", "--parts cannot be combined"),
        ("fit --parts x.csv --slot gen5x16", "--parts cannot be combined"),
        ("fit --parts no-such.csv", "cannot read"),
        ("hardware SN5700", "Did you mean SN5600"),
        ("hardware zzz", "lists all"),
    ],
)
def test_mistakes_say_what_to_do(line, says):
    done = CliRunner().invoke(program(), line.split() if isinstance(line, str) else line)
    assert isinstance(done.exception, UsageError)
    assert says in " ".join(done.exception.lines())


@pytest.mark.parametrize("name", fit_pages.PAGES)
def test_the_pages_are_what_their_commands_print(name):
    found = fit_pages.differences(name)
    assert found == [], "run: just fit-pages\n" + "\n".join(found)


# source-claims.md, numbers in brackets: what the worked example must correct.
CORRECTED = {
    2: "There are **two** of 200 Gb/s each",
    8: "AS boards have crypto disabled",
    15: "`FORCE_PCI_SPEED`, does not exist",
    20: "neither a tall heat sink",
    24: "one port runs at its full rate in a Gen4 slot",
    25: "126 Gb/s is what **Gen3** x16",
    30: "must run\nRS(544,514)",
    38: "`mlxlink -d DEVICE -p 1 -k RS --fec_speed 200G_2X`",
    44: "**and a second x16 interface**",
    50: "Nothing limits a socket to 100 Gb/s",
    53: "NDR200 per port, not NDR",
    54: "not switched on with mlxconfig",
}


def test_the_worked_example_corrects_the_documents():
    page = (fit_pages.REPOSITORY / "docs/examples/dual-port-200g.md").read_text()
    for number, text in CORRECTED.items():
        assert text in page, number
    # 21, 34: what nobody has documented is not asserted.
    assert "what the card draws was not found" in page
    assert "what air the card wants was not found" in page
