"""What the overview counts of firmware parameters, over cards that are set alike."""

from railwright.report.section import Section

# NICs that the firmware tool can be asked about, as the runner chooses them, and what may be one.
# Most cards are set alike: parameters are read of one card per kind.
CARDS = """
CREATE TABLE asked_card AS
SELECT f.target, f.pci, r.digest, coalesce(c.part_number, '') AS part_number
FROM (FROM pci_function
      WHERE coalesce(vendor = '15b3', true) AND coalesce(class LIKE '02%', true)
            AND coalesce(physical_function = '', true)) AS f
LEFT JOIN (FROM digest WHERE fact_table = 'nic_parameter') AS r
    ON r.target = f.target AND r.subject = f.pci
LEFT JOIN nic_card AS c ON c.target = f.target AND c.pci = f.pci;
CREATE TABLE kind_parameter AS
SELECT k.digest, p.* EXCLUDE (target, read_at, pci)
FROM nic_parameter AS p
JOIN (SELECT digest, arg_min(target, row(target, pci)) AS target,
             arg_min(pci, row(target, pci)) AS pci
      FROM asked_card WHERE digest IS NOT NULL GROUP BY digest) AS k
    ON k.target = p.target AND k.pci = p.pci;
"""
# The number counts, not the label before it (True(0) was seen); arrays have only their text.
_VALUE = "coalesce(p.current_code::VARCHAR, p.current_text)"

FIRMWARE = (
    Section(
        "Firmware parameters that wait for a reset",
        "NICs",
        ("parameter", "now", "after it"),
        ("pci",),
        ("mlxconfig",),
        """
        SELECT k.target,
               CASE WHEN k.digest IS NOT NULL
                    THEN coalesce(parameter(p.name, p.port, p.element), 'none') END,
               CASE WHEN k.digest IS NOT NULL THEN coalesce(p.current_text, '') END,
               CASE WHEN k.digest IS NOT NULL THEN coalesce(p.next_text, '') END
        FROM asked_card AS k
        LEFT JOIN (
            FROM kind_parameter WHERE coalesce(current_code <> next_code, current_text <> next_text)
        ) AS p ON p.digest = k.digest
        """,
        none="no NVIDIA NIC",
    ),
    Section(
        "Firmware parameters unlike most of the same part number",
        "NICs",
        ("parameter", "here", "most have"),
        ("pci",),
        ("mlxconfig",),
        """
        SELECT k.target,
               CASE WHEN k.digest IS NOT NULL THEN coalesce(o.parameter, 'none') END,
               CASE WHEN k.digest IS NOT NULL THEN coalesce(o.here, '') END,
               CASE WHEN k.digest IS NOT NULL THEN coalesce(o.most, '') END
        FROM asked_card AS k
        LEFT JOIN odd_parameter AS o ON o.part_number = k.part_number AND o.digest = k.digest
        """,
        none="no NVIDIA NIC",
        before=f"""
        CREATE TEMP TABLE odd_parameter AS
        WITH valued AS (
            SELECT k.part_number, k.digest, k.cards, p.name, p.port, p.element,
                   p.current_text AS here, {_VALUE} AS value
            FROM kind_parameter AS p
            JOIN (SELECT part_number, digest, sum(len(members)) AS cards
                  FROM asked_card JOIN machine USING (target) GROUP BY part_number, digest) AS k
                ON k.digest = p.digest
            WHERE p.current_text IS NOT NULL
        ), counted AS (
            SELECT part_number, name, port, element, value, sum(cards) AS cards,
                   any_value(here) AS here
            FROM valued GROUP BY ALL
        ), compared AS (
            SELECT *, sum(cards) OVER same AS total, arg_max(here, cards) OVER same AS most,
                   max(cards) OVER same AS cards_most
            FROM counted WINDOW same AS (PARTITION BY part_number, name, port, element)
        )
        SELECT v.part_number, v.digest, v.here, parameter(v.name, v.port, v.element) AS parameter,
               CASE WHEN 2 * c.cards_most > c.total THEN c.most ELSE 'no majority' END AS most
        FROM valued AS v
        JOIN (FROM compared WHERE cards * 2 <= total) AS c
            ON c.part_number = v.part_number AND c.name = v.name AND c.port = v.port
               AND c.element = v.element AND c.value = v.value
        """,
    ),
)
