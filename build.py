"""Build, serve and test the guides: `python3 build.py --help`."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (an older Python could not even read what follows)
    running = ".".join(map(str, sys.version_info[:2]))
    raise SystemExit("this is Python " + running + "; 3.11 or newer is needed")

from builder.project import environment

if __name__ == "__main__":
    environment.ensure_environment(sys.argv[1:])
    try:
        from builder.cli import commands
    except SyntaxError as error:
        raise SystemExit(f"{error.filename}:{error.lineno}: {error.msg}") from None

    sys.exit(commands.main(sys.argv[1:]))
