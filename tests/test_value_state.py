"""A value that is none told from one that was not collected, from what tools really print."""

import importlib
from pathlib import Path

import duckdb
import pytest

from railwright.check.lint import empty_database
from railwright.errors import RailwrightError
from railwright.schema.table import Column, load_tables, tables
from railwright.schema.value_state import is_none, none_words, value_state, with_states

EVIDENCE = Path(__file__).parent / "evidence"
NIC = "0000:18:00.0"
READ, NONE, OPEN = "read", "none", "not collected"


@pytest.fixture
def database() -> duckdb.DuckDBPyConnection:
    return empty_database()


def put(database: duckdb.DuckDBPyConnection, table: str, **row: object) -> None:
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))


def answered(database: duckdb.DuckDBPyConnection, parser: str, case: str, instance: str) -> None:
    """What a parser makes of an answer, in its tables."""
    data = (EVIDENCE / parser / f"{case}.out").read_bytes()
    for row in importlib.import_module(f"railwright.parse.{parser}").parse(data, instance):
        put(database, row.table, target="a", **row.values)


def states(database: duckdb.DuckDBPyConnection, table: str, *columns: str) -> list[tuple[str, ...]]:
    listed = ", ".join(value_state(table, column) for column in columns)
    order = ", ".join(f'"{part}"' for part in tables()[table].key)
    return database.execute(f"SELECT {listed} FROM {table} ORDER BY {order}").fetchall()


MODULE = ("temperature_c", "temperature_high_c", "voltage_mv", "wavelength_nm", "max_power_w", "module_firmware_version", "part_number", "speed_gbps", "symbol_errors")  # fmt: skip


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        # Passive copper: N/A for all that needs light or a sensor.
        ("eth-200g-passive-copper-splitter", (NONE, NONE, NONE, NONE, NONE, NONE, READ, READ, NONE)),
        # The same, which prints zeros with limits 0..0; no part number and no firmware is printed.
        ("odd-passive-copper-zeros", (NONE, NONE, NONE, NONE, NONE, OPEN, OPEN, READ, OPEN)),
        ("eth-400g-module-optics-osfp", (READ, READ, READ, READ, READ, READ, READ, READ, NONE)),
        # Nothing of a module is printed; the list of the cable's speeds is empty.
        ("eth-cable-unplugged", (NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE)),
        # Without the module's section and with a link: somebody must ask.
        ("eth-400g-up", (OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, READ, NONE)),
        ("ib-ndr-up-counters-narrow-keys", (OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, OPEN, READ, READ)),
        # The link is down, and of an empty cage every key that is printed says N/A.
        ("odd-link-down-counters-not-available", (NONE, NONE, NONE, NONE, NONE, OPEN, OPEN, NONE, NONE)),
    ],
)  # fmt: skip
def test_what_mlxlink_prints(
    database: duckdb.DuckDBPyConnection, case: str, expected: tuple[str, ...]
) -> None:
    answered(database, "mlxlink", case, NIC)
    assert states(database, "mlxlink_port", *MODULE) == [expected]


@pytest.mark.parametrize(
    ("temperature", "technology", "light"),
    [
        (None, None, OPEN),
        (False, None, NONE),
        (True, "850 nm VCSEL", OPEN),
        # It is warm and sends no light.
        (True, "Copper cable, near and far end limiting active equalizers", NONE),
    ],
)
def test_light_of_a_lane_by_what_its_port_says(
    database: duckdb.DuckDBPyConnection, temperature: bool | None, technology: str, light: str
) -> None:
    put(database, "mlxlink_lane", target="a", pci=NIC, lane=1, rx_loss_of_signal=True)
    put(database, "mlxlink_port", target="a", pci=NIC, monitored=temperature, cable_technology=technology)  # fmt: skip
    assert states(database, "mlxlink_lane", "rx_power_dbm", "tx_power_dbm") == [(light, light)]


def test_a_lane_asks_its_own_port(database: duckdb.DuckDBPyConnection) -> None:
    """Copper prints losses of signal for its lanes, and no light: the port's row knows why."""
    asked = ("rx_power_dbm", "rx_power_low_dbm", "bias_ma", "snr_media_db", "rx_loss_of_signal")
    answered(database, "mlxlink", "eth-200g-passive-copper-splitter", NIC)
    assert states(database, "mlxlink_lane", *asked) == [(NONE, NONE, NONE, NONE, READ)] * 4
    # Without that row nobody knows; nor does that of another port tell.
    database.execute("UPDATE mlxlink_port SET pci = '0000:29:00.0'")
    assert states(database, "mlxlink_lane", *asked) == [(OPEN, OPEN, OPEN, OPEN, READ)] * 4


def test_lanes_of_an_optical_module_are_read(database: duckdb.DuckDBPyConnection) -> None:
    answered(database, "mlxlink", "eth-400g-module-optics-osfp", NIC)
    asked = ("rx_power_dbm", "rx_power_low_dbm", "bias_ma", "snr_media_db")
    assert states(database, "mlxlink_lane", *asked) == [(READ, READ, READ, READ)] * 4


TRANSCEIVER = ("temperature_c", "temperature_high_alarm_c", "rx_power_high_alarm_dbm", "wavelength_nm", "alarms", "firmware_version", "power_class", "technology", "cable_length_m")  # fmt: skip


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("qsfp112-passive-copper", (NONE, NONE, NONE, NONE, NONE, NONE, READ, READ, READ)),
        # An SFP does not name its technology; its connector is a copper pigtail.
        ("odd-sfp-copper", (NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, READ)),
        # With its limits, and without the firmware that runs in it. 0 m: the fibre is separate.
        ("osfp-400g-sr4-dom", (READ, READ, READ, READ, NONE, OPEN, READ, READ, NONE)),
    ],
)
def test_what_ethtool_prints(
    database: duckdb.DuckDBPyConnection, case: str, expected: tuple[str, ...]
) -> None:
    answered(database, "ethtool_module", case, "ens1")
    assert states(database, "transceiver", *TRANSCEIVER) == [expected]


def test_a_dark_lane_has_no_dbm(database: duckdb.DuckDBPyConnection) -> None:
    """An OSFP module prints eight lanes, of which four are lit: the others have 0 mW."""
    answered(database, "ethtool_module", "osfp-400g-sr4-dom", "ens1")
    found = states(database, "transceiver_lane", "rx_power_mw", "rx_power_dbm", "bias_ma")
    assert found == [(READ, READ, READ)] * 4 + [(READ, NONE, READ)] * 4


def test_what_a_function_does_not_have(database: duckdb.DuckDBPyConnection) -> None:
    """By hand: a NIC without ACS, a bridge of which too little was read, a virtual function."""
    put(database, "pci_config", target="a", pci=NIC, acs="absent", port_type="endpoint", link_width=16)  # fmt: skip
    put(database, "pci_config", target="a", pci="0000:19:00.0")
    put(database, "pci_config", target="a", pci="0000:20:00.0", port_type="endpoint", link_width=0)
    asked = ("acs", "acs_request_redirect", "max_payload", "link_width", "link_speed_gts")
    assert states(database, "pci_config", *asked) == [
        (NONE, NONE, OPEN, READ, OPEN),
        (OPEN, OPEN, OPEN, OPEN, OPEN),
        (OPEN, OPEN, NONE, NONE, NONE),
    ]


def test_rail_of_a_port_that_is_not_for_compute(database: duckdb.DuckDBPyConnection) -> None:
    put(database, "port", target="a", device="mlx5_0", port=1, role="compute", rail=0)
    put(database, "port", target="a", device="mlx5_1", port=1, role="storage", gpu_relation="")
    put(database, "port", target="a", device="mlx5_2", port=1, gpu_relation="PIX")
    assert states(database, "port", "rail", "gpu_relation") == [
        (READ, OPEN),
        (NONE, NONE),
        (OPEN, READ),
    ]


def test_every_column_of_every_table_has_a_state(database: duckdb.DuckDBPyConnection) -> None:
    """Each condition binds, and says nothing of a row of which nothing was read."""
    for name, table in tables().items():
        columns = [column.name for column in table.columns]
        database.execute(f"DESCRIBE {with_states(name, *columns)}")
        database.execute(f"INSERT INTO {name} (target) VALUES ('a')")
        rest = [column for column in columns if column != "target"]
        assert states(database, name, *rest) == [(OPEN,) * len(rest)], name
        database.execute(f"DELETE FROM {name}")


def test_a_column_without_a_condition_is_never_none() -> None:
    assert is_none("rdma_port", "state") == "false"
    assert "'none'" not in value_state("rdma_port", "state")
    with pytest.raises(RailwrightError, match="table rdma_port has no column colour"):
        value_state("rdma_port", "colour")


def test_it_is_said_in_words() -> None:
    (heat,) = [one for one in tables()["mlxlink_port"].columns if one.name == "temperature_c"]
    assert none_words(heat) == "NULL where monitored = false or cable_speeds = ''"
    light = Column("x", "DOUBLE", "", "", none="0 = dark", none_in={"port": "state = 'DOWN'"})
    assert none_words(light) == "0 = dark; NULL where its row of port has state = 'DOWN'"


FAN = """
meaning = "A fan."
key = ["target", "fan"]
fed_by = "toy"
[[column]]
name = "fan"
type = "INTEGER"
meaning = "number"
source = "toy"
[[column]]
name = "speed"
type = "INTEGER"
meaning = "rpm"
source = "toy"
"""


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ('none_when = "sped = 0 or fan = 3"', "none_when of speed names sped"),
        ('none_in = {box = "on = false"}', "none_in of speed: box has no row of the same key"),
        ('none_in = {blade = "on = false"}', "none_in of speed: blade has no row of the same key"),
        ('none_in = {motor = "of = false"}', "none_in of speed names of"),
        ('none = "0 = stopped"\nnone_value = "1"', "none of speed does not begin with its none_value 1"),
        ('none = "0"\nnone_value = "0 or 1"', "none of speed does not begin with its none_value 0 or 1"),
    ],
)  # fmt: skip
def test_a_condition_that_names_what_is_not_there_is_refused(
    tmp_path: Path, line: str, trouble: str
) -> None:
    switch = '[[column]]\nname = "on"\ntype = "BOOLEAN"\nmeaning = "on"\nsource = "toy"\n'
    (tmp_path / "toy_fan.toml").write_text(FAN + line)
    (tmp_path / "motor.toml").write_text(FAN + switch)
    blade = FAN.replace('"fan"]', '"fan", "blade"]')
    blade += switch.replace('"on"', '"blade"', 1) + switch
    (tmp_path / "blade.toml").write_text(blade)
    with pytest.raises(RailwrightError, match=trouble):
        load_tables(tmp_path)


def test_words_in_quotes_are_no_columns(tmp_path: Path) -> None:
    said = "none_when = \"fan in (1, 2) and speed is not null or 'odd word' like 'x%'\""
    (tmp_path / "toy_fan.toml").write_text(FAN + said)
    (column,) = [one for one in load_tables(tmp_path)["toy_fan"].columns if one.name == "speed"]
    assert column.none_when
