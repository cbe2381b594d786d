"""Every type and size of a field but the right ones."""

from functools import partial

from tests.hostile.far_end import FarEnd, answer_fields, hello_fields, payload, scenario

fields = partial(scenario, "fields")
HUGE = 10**400
EITHER = "reached|damaged"  # left out, or taken apart no further: both are documented


def with_one_answer(far: FarEnd, **told: object) -> None:
    """A hello with these fields, one answer, an end."""
    far.hello(**told)
    far.answer("lscpu", b"{}")
    far.end()


def with_one_odd_answer(far: FarEnd, **told: object) -> None:
    """An answer with these fields, and nothing else odd."""
    far.hello()
    far.answer("lscpu", b"{}", **told)
    far.end()


@fields(EITHER, "lscpu")
def planned_unhashable(far: FarEnd) -> None:
    with_one_answer(far, planned=[[[], ""]])


@fields(EITHER, "lscpu")
def planned_dict(far: FarEnd) -> None:
    with_one_answer(far, planned=[[{}, {}], {"lscpu": ""}, "lscpu", None, 7, ["lscpu"]])


@fields(EITHER, look=True)
def planned_huge(far: FarEnd) -> None:
    far.hello(planned=[["lscpu", f"x{number}"] for number in range(300_000)])
    far.end()


@fields(EITHER, "lscpu")
def planned_nobody_asked(far: FarEnd) -> None:
    with_one_answer(far, planned=[["evil", "x"], ["sonic_show", ""], ["../../etc", "passwd"]])


@fields(EITHER, "lscpu")
def bigint_time(far: FarEnd) -> None:
    with_one_answer(far, time=HUGE)


@fields(EITHER, "lscpu")
def bigint_started(far: FarEnd) -> None:
    with_one_odd_answer(far, started=HUGE)


@fields(EITHER, "lscpu")
def bigint_duration(far: FarEnd) -> None:
    with_one_odd_answer(far, duration=HUGE)


@fields(EITHER, "lscpu")
def bigint_dropped(far: FarEnd) -> None:
    with_one_odd_answer(far, dropped=HUGE)


@fields(EITHER, "lscpu")
def bigint_exit(far: FarEnd) -> None:
    with_one_odd_answer(far, exit_code=HUGE)


@fields("incomplete")
def bigint_frames(far: FarEnd) -> None:
    far.hello()
    far.end(frames=HUGE)


@fields("failed|damaged", look=True)
def digits_beyond_python(far: FarEnd) -> None:
    """An integer that Python refuses to read: no hello was understood."""
    head = b'{"hostname":"e","time":' + b"9" * 5000 + b',"planned":[],"stdout":0,"stderr":0}\n'
    far.body(".hello", head)
    far.end()


@fields(EITHER, "lscpu", look=True)
def nan(far: FarEnd) -> None:
    """What JSON does not know and Python's json reads."""
    odd = float("nan")
    far.hello(time=odd, uptime="nan", planned=odd)
    infinite = float("inf")
    far.answer("lscpu", b"{}", started=odd, duration=infinite, dropped=-infinite, exit_code=odd)
    far.end()


@fields("incomplete", "lscpu")
def negative(far: FarEnd) -> None:
    far.hello(time=-1e11, uptime="-5")
    far.answer("lscpu", b"{}", started=-9e11, duration=-5, dropped=-5, exit_code=-5)
    far.end(frames=-3)


@fields(EITHER, "lscpu", look=True)
def long_ago(far: FarEnd) -> None:
    """Before the first year that a calendar has."""
    far.hello(time=-1e11)
    far.answer("lscpu", b"{}", started=-9e11)
    far.end()


@fields(EITHER, "lscpu cmdline", look=True)
def late_time(far: FarEnd) -> None:
    """Behind the last year that a calendar has."""
    far.hello(time=9.9e11, uptime="9999999999.999")
    far.answer("lscpu", b"{}", started=9.99e11)
    far.answer("cmdline", b"x", started=9.99e11, duration=9.99e11, dropped=999_999_999_999)
    far.end()


@fields(EITHER, "lscpu", look=True)
def just_too_much(far: FarEnd) -> None:
    """At the ends of int32, int64 and double."""
    far.hello(time=1e308, uptime="1e308")
    limits = {"started": 2**63, "duration": 1e308, "dropped": 2**63, "exit_code": 2**31}
    far.answer("lscpu", b"{}", **limits)
    far.end()


@fields(EITHER, "lscpu")
def booleans(far: FarEnd) -> None:
    far.hello(time=True, hostname=True, uptime=False, planned=True)
    far.answer(
        "lscpu", b"{}", started=True, duration=True, dropped=True, exit_code=True, truncated="yes"
    )
    far.end()


@fields("reached|incomplete", "", "lscpu")
def stdout_bool(far: FarEnd) -> None:
    """A size that is an integer for Python only."""
    far.hello()
    far.body("lscpu", b'{"instance":"","status":"ok","stdout":true,"stderr":false}\nx')
    far.end()


@fields("reached|incomplete", "", "lscpu")
def negative_stderr(far: FarEnd) -> None:
    """Sizes whose sum is right."""
    far.hello()
    far.body("lscpu", b'{"instance":"","status":"ok","stdout":1000000,"stderr":-999998}\n{}')
    far.end()


@fields("incomplete")
def sizes_of_other_types(far: FarEnd) -> None:
    far.hello()
    for size in (b'"2"', b"2.0", b"null", b"[2]", b"-2", b"1" + b"0" * 400):
        far.body("lscpu", b'{"instance":"","status":"ok","stdout":' + size + b',"stderr":0}\n{}')
    far.end()


@fields(EITHER, "lscpu", look=True)
def argv_types(far: FarEnd) -> None:
    odd: list[object] = [1, None, {}, [], "x" * 100_000]
    with_one_odd_answer(far, argv=odd * 10, reason=["x"], status={"a": 1})


WRONG: dict[str, object] = {
    "lscpu": None,
    "dmesg": [],
    "lspci": {},
    "mlxlink": 1.5,
    "numa": -1,
    "pci": False,
    "netdev": [[["x"]]],
    "sysctl": {"a": {"b": None}},
    "limits": "x" * 100_000,
    "modules": "",
}


@fields(EITHER, " ".join(probe for probe in WRONG if probe != "limits"), "limits", look=True)
def answers_of_every_type(far: FarEnd) -> None:
    """All fields of an answer with one wrong value, value by value."""
    far.hello()
    for probe, value in WRONG.items():
        told = dict.fromkeys(answer_fields(probe, ""), value)
        far.body(probe, payload(told, b"{}"))
    far.end()


def hello_of(value: object) -> dict[str, object]:
    """A hello whose fields all have this value."""
    return dict.fromkeys(hello_fields(), value)


@fields(EITHER)
def hello_of_nulls(far: FarEnd) -> None:
    far.hello(**hello_of(None))
    far.end()


@fields(EITHER)
def hello_of_lists(far: FarEnd) -> None:
    far.hello(**hello_of([["lscpu", ["x"]], ["lscpu", None], []]))
    far.end()


@fields(EITHER)
def hello_of_dicts(far: FarEnd) -> None:
    far.hello(**hello_of({"lscpu": {"x": [1]}}))
    far.end()


@fields(EITHER, look=True)
def hello_of_long_texts(far: FarEnd) -> None:
    """Half a megabyte in each field."""
    far.hello(**hello_of("\U0001f600" * 40_000))
    far.end()


@fields("failed|damaged|incomplete|reached", "", "lscpu")
def hello_of_nothing(far: FarEnd) -> None:
    far.body(".hello", payload({}))
    far.answer("lscpu", b"{}")
    far.end()


@fields("failed|damaged")
def hello_that_is_no_object(far: FarEnd) -> None:
    for head in (b"[]", b'"hello"', b"7", b"null", b"NaN", b"", b"\xff\xfe{\x00}\x00", b"{" * 9000):
        far.body(".hello", head + b"\n")
    far.end()


@fields("damaged")
def dup_hello(far: FarEnd) -> None:
    """A host does not change its name: the first one stands, and it is `damaged`."""
    for number in range(1000):
        far.hello(hostname=f"h{number}", planned=[["lscpu", f"i{number}"]])
    far.end()


@fields("reached", "lscpu")
def hello_late(far: FarEnd) -> None:
    far.answer("lscpu", b"{}")
    far.hello()
    far.end()


@fields("incomplete")
def deep_json(far: FarEnd) -> None:
    far.hello()
    far.body("lscpu", b'{"a":' + b"[" * 200_000 + b"\nx")
    far.end()


@fields("reached|incomplete", "", "lscpu")
def keys_twice(far: FarEnd) -> None:
    far.hello()
    far.body(
        "lscpu",
        b'{"stdout":9,"stderr":9,"status":"absent","status":"ok","stdout":2,"stderr":0}\n{}',
    )
    far.end()
