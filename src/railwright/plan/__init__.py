"""findings + intent -> a plan: the smallest set of changes, each with its undo."""
