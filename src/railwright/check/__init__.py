"""facts -> findings: rules are loaded, refused or run, and every subject is accounted for."""
