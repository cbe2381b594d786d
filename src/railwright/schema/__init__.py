"""What a fact can be: tables, subjects and counters as data; the floor below the parsers."""
