"""`python -m headway` is `headway`."""

from headway.cli import main

main()
