"""Facts: the tables, their description, and the store that keeps them as Parquet."""
