"""The headroom of Spectrum ports: Python and SQL against results of SONiC's own calculation."""

import csv

import duckdb
import pytest
from conftest import SHARED

from railwright.hardware.headroom import Headroom, Port, headroom, macros

ORACLE = SHARED / "oracles" / "spectrum_headroom.csv"


@pytest.mark.shared
def test_every_row_of_the_original_calculation() -> None:
    wrong, rows = [], 0
    with ORACLE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows += 1
            port = Port(
                int(row["asic_generation"]),
                int(row["port_speed_mbps"]),
                float(row["cable_m"]),
                int(row["port_mtu"]),
                int(row["lanes"]),
                int(row["lossless_mtu"]),
                int(row["small_packet_percent"]),
                row["shared_headroom_pool"] == "1",
            )
            told = Headroom(int(row["xon_bytes"]), int(row["xoff_bytes"]), int(row["size_bytes"]))
            if headroom(port) != told:
                wrong.append((port, headroom(port), told))
    assert wrong == []
    assert rows == 5760


@pytest.mark.shared
def test_the_macro_gives_the_same() -> None:
    with duckdb.connect() as database:
        database.execute(macros())
        found = database.execute(
            "SELECT count(*), count(*) FILTER (spectrum_xoff(asic_generation, port_speed_mbps, "
            f"cable_m, port_mtu) = xoff_bytes) FROM read_csv('{ORACLE}') "
            "WHERE small_packet_percent = 100 AND lossless_mtu = 1024"
        ).fetchone()
    assert found == (960, 960)


# facts/predict.md 3.3: MTU 9100, lossless MTU 1024, all packets small.
@pytest.mark.parametrize(
    ("generation", "speed", "lanes", "cable", "told"),
    [
        (3, 400000, 8, 5, Headroom(38912, 212992, 261120)),
        (4, 400000, 4, 5, Headroom(19456, 230400, 249856)),
        (4, 800000, 8, 5, Headroom(38912, 256000, 304128)),
    ],
)
def test_samples(generation: int, speed: int, lanes: int, cable: int, told: Headroom) -> None:
    assert headroom(Port(generation, speed, cable, 9100, lanes)) == told


def test_a_longer_cable_needs_more() -> None:
    told = [headroom(Port(4, 400000, metres, 9100, 4)) for metres in (5, 40, 300)]
    assert [one.xoff for one in told if one] == [230400, 283648, 677888]


def test_what_is_not_known_is_not_guessed() -> None:
    assert headroom(Port(9, 400000, 5, 9100, 4)) is None
    assert headroom(Port(4, 123000, 5, 9100, 4)) is None
    with duckdb.connect() as database:
        database.execute(macros())
        for values in ("9, 400000, 5, 9100", "4, 123000, 5, 9100", "4, 400000, NULL, 9100"):
            found = database.execute(f"SELECT spectrum_xoff({values})").fetchone()
            assert found == (None,), values


# Models as the four systems spell them (tests/evidence): hwsku of SONiC, product name, LLDP message.
@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("Mellanox-SN5600-V256", 4),
        ("x86_64-nvidia_sn5640-r0", 5),
        ("MSN3700", 2),
        ("SN4700", 3),
        ("ACS-MSN2700", 1),
        ("SN6810", 6),
        ("SN7800", None),
        ("DCS-7060DX5-64S-F", 0),
        ("", None),
        (None, None),
    ],
)
def test_the_chip_is_told_by_the_model(model: str | None, generation: int | None) -> None:
    with duckdb.connect() as database:
        database.execute(macros())
        found = database.execute("SELECT spectrum_generation(?)", [model]).fetchone()
    assert found == (generation,)
