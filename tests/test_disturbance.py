"""What a repair disturbs: a word for every rule, from documents, and never a guess."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

from railwright.check.disturbance import disturbed, remark_on, way_back_of
from railwright.check.rule import Rule, load_rule, shipped
from railwright.settings.setting import setting_of, settings
from railwright.settings.words import DISTURBANCES, REACH, TAKES_HOLD, WAY_BACK

RULES = list(shipped().values())
SAYS_IT_ITSELF = [
    rule for rule in RULES if re.search(r"^disturbs = ", rule.path.read_text("utf-8"), re.MULTILINE)
]

# By hand, from what drivers, tools and switch systems document.
BY_HAND = {
    "intent-trust": "nothing",  # a register, no link toggle
    "host-global-pause": "nothing",
    "intent-max-read-request": "nothing",
    "gid-index-unusable": "new jobs",  # NCCL reads its files at the start
    "intent-mtu": "packet loss",  # the driver rebuilds the queues, the link stays up
    "switch-ecn-off": "packet loss",  # Cumulus rebuilds buffers
    "memlock-limited": "service restart",
    "intent-pfc": "link flap",  # the driver toggles the link if the mask changes
    "fec-off": "link flap",
    "switch-pfc-mismatch": "link flap",
    "qos-lost-at-reboot": "link flap",  # what was lost may be PFC
    "address-twice": "running jobs",  # GID indexes move under running QPs
    "vf-without-guid": "driver restart",
    "nic-without-rdma": "driver restart",
    "firmware-parameter-pending": "NIC reset",
    "intent-programmable-cc": "NIC reset",
    "firmware-differs": "NIC reset",
    "ats-on-bare-metal": "reboot",  # the guide says the host, not the guest
    "acs-redirect": "reboot",
    "iommu-translates": "reboot",
    "firmware-no-reset-level": "power cycle",
    "pcie-link-narrow": "power cycle",
    "switch-egress-pool-small": "switch reload",
    "link-ber-high": "hands on site",
    "copper-too-long": "hands on site",
    "rdma-retransmissions": "depends",
    "hostname-of-another": "unknown",  # no document says it
}


@pytest.mark.parametrize(("rule", "word"), BY_HAND.items())
def test_what_repairs_disturb_by_hand(rule: str, word: str) -> None:
    assert shipped()[rule].disturbs == word


def test_every_rule_has_one_of_the_words_and_every_word_a_rule() -> None:
    assert {rule.disturbs for rule in RULES} == set(DISTURBANCES)


def test_every_setting_of_a_rule_has_a_file() -> None:
    assert {rule.setting for rule in RULES if rule.setting} <= set(settings())


@pytest.mark.parametrize("name", settings())
def test_an_entry_uses_the_vocabulary_and_names_its_sources(name: str) -> None:
    one = settings()[name]
    assert one.takes_hold in TAKES_HOLD
    assert one.reach in REACH
    assert one.way_back in WAY_BACK
    assert one.disturbs in DISTURBANCES
    documented = bool(one.takes_hold)
    assert bool(one.sources) is bool(one.reach) is documented
    assert (one.disturbs == "unknown") is not documented


def test_a_rule_says_by_itself_only_what_its_setting_or_action_does_not() -> None:
    needless = [r.id for r in SAYS_IT_ITSELF if disturbed(r.action, r.setting) == r.disturbs]
    assert needless == []


def test_only_what_nobody_documents_is_unknown() -> None:
    """A reset may be of anything: a rule whose remedy is one says of what."""
    assert {rule.id for rule in RULES if rule.disturbs == "unknown"} == {
        "hostname-of-another",
        "gpu-fabric-not-ready",
    }


def test_what_is_not_documented_is_not_guessed() -> None:
    assert disturbed("reset", "") == "unknown"
    assert disturbed("set", "site.own") == "unknown"
    assert way_back_of("host.bios") == way_back_of("") == ""


def test_a_firmware_parameter_without_an_entry_is_as_any_other() -> None:
    assert setting_of("nic.parameter.NUM_OF_VFS") == settings()["nic.parameter"]
    assert setting_of("nic.parameters") is None
    assert setting_of("nic") is None


def test_a_remark_is_not_told_of_another_word() -> None:
    assert remark_on("nic.pfc", "link flap") == "only if the mask changes"
    assert remark_on("nic.pfc", "reboot") == ""


def site_rule(folder: Path, header: str) -> Rule:
    """A shipped rule as a site's own, with another remedy."""
    text = shipped()["intent-mtu"].path.read_text("utf-8")
    kept = [one for one in text.splitlines() if not re.match("action|setting|fix|aliases", one)]
    text = "\n".join(kept).replace('id = "intent-mtu"', f'id = "site-mtu"\n{header}', 1)
    (folder / "mtu.sql").write_text(text)
    return load_rule(folder / "mtu.sql", folder)


@pytest.mark.parametrize(
    ("header", "word"),
    [
        ('action = "set"\nsetting = "nic.fec"', "link flap"),
        ('action = "set"\nsetting = "nic.fec"\ndisturbs = "reboot"', "reboot"),
        ('action = "set"\nsetting = "site.own"\ndisturbs = "nothing"', "nothing"),
        ('action = "set"\nsetting = "nic.parameter.NUM_OF_VFS"', "NIC reset"),
        ('action = "replace"', "hands on site"),
        ("", "depends"),
    ],
)
def test_a_rule_of_a_site_has_a_word_too(header: str, word: str, tmp_path: Path) -> None:
    assert site_rule(tmp_path, header).disturbs == word


def enums(schema: Any) -> Iterator[list[str]]:
    """Every list of words that `disturbs` may be."""
    if isinstance(schema, dict):
        if "nothing" in schema.get("enum", []):
            yield schema["enum"]
        for one in schema.values():
            yield from enums(one)


@pytest.mark.parametrize("name", ["findings-2", "rules-1", "explain-1"])
def test_the_schemas_have_the_same_words(name: str) -> None:
    schema = json.loads((REPOSITORY / f"docs/schemas/{name}.json").read_text("utf-8"))
    assert list(enums(schema)) == [list(DISTURBANCES)]
