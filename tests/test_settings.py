"""Every setting: its file, its SELECT, its cases, and what must never be written."""

import re
from copy import deepcopy

import duckdb
import pytest

from railwright.check.lint import columns_of, known_column
from railwright.check.rule import shipped
from railwright.check.tables import SCOPES
from railwright.check.trial import filled, trial_database
from railwright.collect.probe import probes
from railwright.plan.cases import Case, load_cases, scopes_of, wrong_in
from railwright.plan.changes import State, changes
from railwright.plan.changes import filled as filled_in
from railwright.plan.forms import FORMS
from railwright.settings.setting import AGREED, SYSTEMS, Setting, Step, settings

ALL = list(settings().values())
PLANNED = [one for one in ALL if one.is_planned and one.writes]
# Their steps are not written down yet: `plan` says so of them, and changes nothing.
WITHOUT_STEPS = {
    "host.boot_unit",
    "host.cpu_idle",
    "host.kernel_argument",
    "kubernetes.device_plugin",
    "pci.relaxed_ordering",
}
each = pytest.mark.parametrize("setting", ALL, ids=lambda one: one.id)
each_planned = pytest.mark.parametrize("setting", PLANNED, ids=lambda one: one.id)


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    return trial_database()


def can_be_wanted(setting: Setting) -> bool:
    """Whether the site file has a key for it, or facts tell what it is to be."""
    return "null::varchar as wanted" not in setting.sql


def found(
    database: duckdb.DuckDBPyConnection, setting: Setting, case: Case, rows: object = None
) -> dict[str, State]:
    with filled(database, case.rows if rows is None else rows, scopes_of(setting)):  # type: ignore[arg-type]
        return {one.subject: one.state for one in changes(setting, database)}


@each
def test_header(setting: Setting) -> None:
    assert 1 <= len(setting.title.split()) <= 8
    assert set(setting.after + setting.before + setting.kept_by) <= set(settings())
    assert setting.sources or not setting.takes_hold
    if not setting.is_planned:
        assert not setting.writes
        assert not setting.sql_path.exists()


def test_settings_without_steps_are_listed() -> None:
    assert {one.id for one in ALL if one.is_planned and not one.writes} == WITHOUT_STEPS


@each_planned
def test_select_and_writes_fit(setting: Setting, database: duckdb.DuckDBPyConnection) -> None:
    read = {*setting.reads, *setting.uses}
    assert [one for one in read if not known_column(one)] == []
    columns = columns_of(database, setting.sql)
    assert tuple(columns[: len(setting.subject.key) + len(AGREED)]) == (
        *setting.subject.key,
        *AGREED,
    )
    assert setting.names() <= set(columns) - set(AGREED)
    assert {form for _, form in setting.placeholders()} <= {"", *FORMS}
    assert {write.probe for write in setting.writes} <= {"", *probes()}
    is_of_switch = setting.area == "switch"
    assert all((write.system in SYSTEMS) is is_of_switch for write in setting.writes)


@each_planned
def test_cases(setting: Setting, database: duckdb.DuckDBPyConnection) -> None:
    cases = load_cases(setting)
    wrong = [one for case in cases for one in wrong_in(database, setting, case)]
    assert wrong == []
    shown = {told["state"] for case in cases for told in case.expected.values()}
    if not can_be_wanted(setting):
        assert shown <= {"undecided", "refused"}
        return
    assert {"change", "leave", "refused"} <= shown
    changed = [t for c in cases for t in c.expected.values() if t["state"] == "change"]
    assert all({"now", "wanted", "steps", "undo"} <= set(told) for told in changed)


@each_planned
def test_every_way_to_write_it_is_shown(setting: Setting) -> None:
    """By its program, its file or its first line, in the steps of some case."""
    if not can_be_wanted(setting):
        return
    said = " ".join(
        step
        for case in load_cases(setting)
        for told in case.expected.values()
        for step in told.get("steps", ())
    )
    for write in setting.writes:
        for step in write.steps:
            words = (
                [step.argv[0]]
                if step.argv
                else [re.split(r"[{]", one)[0] for one in step.texts() if one]
            )
            assert words[0] in said, words[0]


@each_planned
def test_what_was_not_read_is_never_written(
    setting: Setting, database: duckdb.DuckDBPyConnection
) -> None:
    for case in load_cases(setting):
        for need in setting.reads:
            table, _, column = need.rpartition(".")
            rows = deepcopy(case.rows)
            touched = [row for row in rows.get(table, ()) if row.get(column) is not None]
            if table in SCOPES or not touched:
                continue
            for row in touched:
                row[column] = None
            written = [
                s
                for s, state in found(database, setting, case, rows).items()
                if state is State.CHANGE
            ]
            assert written == [], f"{case.name}, without {need}"


@pytest.mark.parametrize(
    ("form", "value", "written"),
    [
        ("dcbx", "host", "os"),
        ("dcbx", "firmware", "fw"),
        ("first", "1,0:vendor,ets:0,100", "1,0"),
        ("second", "1,0:vendor,ets:0,100", "vendor,ets"),
        ("third", "1,0:vendor,ets:0,100", "0,100"),
        ("version", "v2", "2"),
    ],
)
def test_forms_that_few_cases_show(form: str, value: str, written: str) -> None:
    assert FORMS[form](value) == written


def test_every_rule_names_a_setting_or_says_why_none_can_mend_it() -> None:
    """By its action: hands, a new part, a reset, or people who decide first."""
    for rule in shipped().values():
        if rule.action == "set":
            assert settings()[rule.setting].level != "hands" or rule.setting == "host.bios", rule.id


def test_a_step_that_depends_on_a_column() -> None:
    step = Step("argv", argv=("stop", "{port}"), when="was_on")
    (done,) = filled_in((step,), {"port": "Ethernet0", "was_on": "true"})
    assert done.argv == ("stop", "Ethernet0")
    assert filled_in((step,), {"port": "a b", "was_on": "false"}) == ()
    with pytest.raises(Exception, match=r"^$"):  # not known: nothing is written
        filled_in((step,), {"port": "Ethernet0", "was_on": None})


def test_a_slash_goes_into_lines_of_configuration_alone() -> None:
    values = {"port": "Ethernet1/1", "to": "3"}
    (line,) = filled_in((Step("lines", lines=("interface {port}", "{to:eos_pfc}")),), values)
    assert line.lines[0] == "interface Ethernet1/1"
    assert line.lines[4] == "priority-flow-control priority 3 no-drop"
    assert len(line.lines) == 9
    for step in (Step("argv", argv=("{port}",)), Step("file", file="/sys/{port}", text="1")):
        with pytest.raises(Exception, match=r"^$"):
            filled_in((step,), values)
