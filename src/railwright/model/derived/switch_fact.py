"""Table `switch_fact`: what the system of each switch reports, so that no rule asks which it is."""

from railwright.schema.system import systems
from railwright.store.duck import quote


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
    query = f"""
        SELECT s.target, s.read_at, f.fact, s.system, f.state
        FROM (
            SELECT r.target, max(r.read_at) AS read_at, min(p.system) AS system
            FROM probe_result AS r
            INNER JOIN (VALUES {probes}) AS p (system, probe) ON p.probe = r.probe
            GROUP BY r.target
        ) AS s
        INNER JOIN (VALUES {facts}) AS f (system, fact, state) ON f.system = s.system
    """
    return [query]
