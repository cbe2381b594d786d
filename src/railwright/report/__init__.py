"""Views of the tables: text for people. They decide nothing."""
