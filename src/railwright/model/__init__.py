"""What the facts add up to: tables that are worked out from tables, and snapshots compared."""
