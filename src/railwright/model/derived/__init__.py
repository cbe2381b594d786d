"""One file per derived table: `<table>.sql`, or `<table>.py` where the schema makes the SELECT."""
