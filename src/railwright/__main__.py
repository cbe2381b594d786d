"""`python -m railwright`."""

from railwright.start import main

main()
