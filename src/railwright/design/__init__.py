"""Before you buy: do these parts belong together? Hardware data in, verdicts out."""
