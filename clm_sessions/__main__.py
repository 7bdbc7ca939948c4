"""The ``clm-sessions`` command, also as ``python -m clm_sessions``."""

import sys


def main() -> None:
    """Run the command. Ctrl-C while it is being loaded ends it as later on, without a traceback."""
    try:
        from clm_sessions.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
