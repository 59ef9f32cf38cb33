"""The command `headway`.

Only what every command needs is imported here; each command imports the rest when it runs,
so that `headway --help` answers at once.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line; a user's mistake is one message and exit code 2."""
    from headway.cli.app import app
    from headway.errors import UserError

    try:
        app()
    except UserError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has seen enough.
        sys.stderr.close()
        sys.exit(0)
