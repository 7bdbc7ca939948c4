"""``python -m clm_sessions`` is the ``clm-sessions`` command."""

from clm_sessions.cli import main

if __name__ == "__main__":
    main()
