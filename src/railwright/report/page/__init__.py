"""`railwright report`: one file to look at. What it shows was worked out elsewhere."""
