"""`python -m railwright` is the same program as `railwright`."""

from railwright.cli import main

main()
