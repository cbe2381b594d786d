"""`railwright facts --json`: the groups of the overview, with every host of each."""

from railwright.intent.roles import make_site_ports
from railwright.intent.site import Site
from railwright.report.collected import is_whole
from railwright.report.json_text import json_text
from railwright.report.overview_facts import Targets, Told, asked, told_sections, unanswered
from railwright.report.status import exit_status
from railwright.report.switches import kinds_of_switches
from railwright.store.snapshot import Snapshot


def overview_json(snapshot: Snapshot, site: Site | None) -> tuple[str, int]:
    """The object, and the exit status that it tells."""
    with snapshot.database() as database:
        database.execute(make_site_ports(site))
        hosts, switches = asked(database, "host"), asked(database, "switch")
        unknown = unanswered(database)
        status = exit_status(unknown=not is_whole(database), snapshot=snapshot)
        text = json_text(
            "facts",
            status,
            snapshot=snapshot.name,
            path=str(snapshot.path),
            started=snapshot.run.get("started"),
            hosts=_counted(hosts),
            switches=_counted(switches),
            not_answered=[
                {"answer": one.answer, "reason": one.said, "different_reasons": one.different}
                | {"targets": sorted(one.names)}
                for one in unknown
            ],
            switch_groups=kinds_of_switches(database),
            sections=[_section(told, hosts) for told in told_sections(database, hosts)],
        )
    return text, status


def _counted(targets: Targets) -> dict[str, int]:
    return {
        "asked": len(targets.everyone),
        "reached": targets.reached,
        "incomplete": targets.incomplete,
        "not_reached": targets.missed,
        "out_of_service": targets.out_of_service,
    }


def _section(told: Told, hosts: Targets) -> dict[str, object]:
    """Null in `values` is unknown. Hosts without such a thing are a group of their own."""
    section = told.section
    lacking = sum(map(len, told.gaps.values()))
    return {
        "title": section.title,
        "columns": list(section.columns),
        "counts_per_host": section.each,
        "hosts_known": len(hosts.everyone) - lacking,
        "groups": [
            {
                "values": None if not group.things else list(group.cells),
                "count": group.things,
                "hosts": list(group.hosts),
            }
            for group in told.groups
        ],
        "unknown": [{"reason": why, "hosts": list(names)} for why, names in told.gaps.items()],
    }
