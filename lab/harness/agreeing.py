"""One random fabric, all verbs, and where they contradict each other."""

import random
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from lab.harness.agreement import FORMATS, Book, Check
from lab.harness.by_hand import with_derived
from lab.harness.judged_once import judged_once
from lab.harness.machine_statements import (
    of_both_ends,
    of_explain,
    of_facts,
    of_host,
    of_predict,
    of_switch,
)
from lab.harness.random_fabrics import SWITCHES, random_fabric
from lab.harness.small_fabric import HOSTS
from lab.harness.statements import of_check, of_hops, of_links, of_path, of_rails
from railwright.check.links import rules_of_links

LOSSLESS = 'profile = "roce-lossless"\n'
# What a site may decide: what ports are for, what hosts have, a threshold, a finding, a gap.
STORAGE = '[[role]]\nrole = "storage"\nhosts = "gpu2"\ndevices = ["mlx5_1"]\n'
AWAY = '[[role]]\nrole = "management"\nnetdevs = ["ens1"]\n'
BACK = '[[role]]\nrole = "compute"\nhosts = "gpu1"\ndevices = ["mlx5_*"]\n'
CLASS = '[[class]]\nname = "gpu"\nhosts = "gpu[1-2]"\ncompute_nics = 2\nport_rate_gbps = 400\n'
PARAMETER = "[parameters.cable-unlike-peers]\nleast_members = 2\n"
_BY = 'reason = "known"\nowner = "kim"\n'
WAIVER = f"""
[[waive]]
rule = "*"
subjects = ["leaf1", "gpu1"]
expires = 2099-01-01
{_BY}"""
GAPS = "".join(
    f'[[accept_gap]]\nsystem = "{system}"\nfact = "{fact}"\n{_BY}'
    for system, fact in (("eos", "headroom"), ("eos", "lossless_buffer"), ("sonic", "headroom"))
)


class Decided(NamedTuple):
    """What stands in a site's files."""

    site: str
    waivers: str = ""


SITES = (
    Decided(LOSSLESS),
    Decided(""),
    Decided(LOSSLESS + STORAGE, GAPS),
    Decided(LOSSLESS + AWAY + BACK + CLASS, WAIVER),
    Decided(CLASS + STORAGE + PARAMETER, WAIVER + GAPS),
)
EXPLAINED = 2
ANEW = 20  # of so many fabrics on one every verb has the rules run for itself


def names_of_end(end: str) -> list[str]:
    """ens1 is port 1 of mlx5_0."""
    target, _, port = end.partition(":")
    if port.startswith("ens"):
        return [end, f"{target}:mlx5_{int(port[3:]) - 1}/1"]
    return [end]


def book_of(store: Path, decided: Decided, draw: random.Random, formats: tuple[str, ...]) -> Book:
    """What all verbs say of the snapshot in a store."""
    book = Book()
    (store / "site.toml").write_text(decided.site)
    (store / "waivers.toml").write_text(decided.waivers)
    check = of_check(book, store, formats)
    rules = set(rules_of_links())
    of_links(book, store, check, rules, names_of_end)
    of_path(
        book,
        store,
        check if LOSSLESS in decided.site else None,
        ("gpu1:mlx5_0", "gpu2:mlx5_1"),
        names_of_end,
    )
    of_hops(book, store, check, rules)
    of_rails(book, store, check)
    of_predict(book, store)
    of_facts(book, store, check)
    for name in HOSTS:
        of_host(book, store, name)
    for name in SWITCHES:
        of_switch(book, store, name)
    of_both_ends(book)
    _explained(book, store, check, draw)
    return book


def compare(seed: int) -> dict[str, Any]:
    """The differences of one fabric, and the kinds that two stated."""
    rows, done = random_fabric(seed)
    draw = random.Random(-seed - 1)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder)
        with_derived(store, rows)
        # Each format is a check of everything: one of them, by chance.
        with judged_once() if seed % ANEW else nullcontext():
            book = book_of(store, draw.choice(SITES), draw, (draw.choice(FORMATS),))
    return {
        "fabric": done,
        "differences": list(book.differences()),
        "compared": sorted(book.compared()),
    }


def _explained(book: Book, store: Path, check: Check, draw: random.Random) -> None:
    found = check.data["findings"]
    for one in draw.sample(found, min(EXPLAINED, len(found))):
        of_explain(book, store, check, one, "fail")
    unknown = [u for u in check.data["inconclusive"] if not u["subject"].endswith(":*")]
    for one in draw.sample(unknown, min(1, len(unknown))):
        of_explain(book, store, check, one, "unknown")
