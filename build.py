"""Build, serve and test the guides: `python3 build.py --help`."""

import sys

from builder import environment

if __name__ == "__main__":
    environment.ensure(sys.argv[1:])
    from builder import commands

    sys.exit(commands.main(sys.argv[1:]))
