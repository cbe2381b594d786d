"""Table `gap`: a million rows say ok, and what matters is the others."""

from railwright.schema.table import feeding_probes
from railwright.store.duck import quote


def system_of(probe: str) -> str:
    """The switch system that a probe asks, as SQL: eos of eos_route."""
    return f"split_part({probe}, '_', 1)"


def queries() -> list[str]:
    """The SELECT of the derived table, alone."""
    wanted = ", ".join(
        f"({quote(kind)}, {quote(probe)})"
        for kind in ("host", "switch")
        for probe in feeding_probes(kind)
    )
    query = f"""
        WITH asked AS (
            SELECT target, probe, bool_or(status = 'ok') AS is_ok FROM probe_result GROUP BY ALL
        )
        SELECT r.target, max(r.read_at) AS read_at, r.probe, r.status, min(r.reason) AS reason,
               count(*) AS answers, NOT bool_or(a.is_ok) AS nothing_read
        FROM (FROM probe_result WHERE status <> 'ok') AS r
        JOIN asked AS a ON a.target = r.target AND a.probe = r.probe
        -- A management port without DCB is no gap where the RDMA ports have answered.
        WHERE NOT (r.status = 'absent' AND a.is_ok)
        GROUP BY r.target, r.probe, r.status
        UNION ALL
        SELECT t.target, NULL, w.probe,
               CASE t.status WHEN 'reached' THEN 'not asked' ELSE 'not reached' END, '', 0, true
        FROM target AS t JOIN (VALUES {wanted}) AS w (kind, probe) ON w.kind = t.kind
        ANTI JOIN asked AS a ON a.target = t.target AND a.probe = w.probe
        -- A switch has one system; its probes have that system's name. Of one that never answered
        -- nobody knows it.
        LEFT JOIN (SELECT target, min({system_of("probe")}) AS system FROM asked GROUP BY target)
            AS s ON s.target = t.target
        WHERE t.kind = 'host' OR s.system IS NULL OR s.system = {system_of("w.probe")}
    """
    return [query]
