"""Table `switch_fact`: what the system of each switch reports, so that no rule asks which it is."""

from railwright.schema.system import systems
from railwright.store.duck import quote, read_sql


def queries() -> list[str]:
    """The SELECT of the derived table, alone."""
    probes = ", ".join(
        f"({quote(system.name)}, {quote(probe)})"
        for system in systems().values()
        for probe in system.probes
    )
    facts = ", ".join(
        f"({quote(system.name)}, {quote(fact)}, {quote(state)})"
        for system in systems().values()
        for fact, state in system.states.items()
    )
    return [read_sql(__file__, "system_fact.sql").format(probes=probes, facts=facts)]
