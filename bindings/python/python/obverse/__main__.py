"""The `obverse` command."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Does what the binary does with the same arguments; returns the exit status."""
    # While the native part works Python would not get to see that somebody pressed Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["obverse", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
