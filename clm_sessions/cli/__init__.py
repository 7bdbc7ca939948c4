"""The ``clm-sessions`` command: thin; each command says what it does and calls the room that does it."""

from __future__ import annotations

import sys

import click

from clm_sessions import __version__, plugins
from clm_sessions.cli.checking import check_log
from clm_sessions.cli.common import plain
from clm_sessions.cli.importing import import_
from clm_sessions.cli.keeping import export_log, verify
from clm_sessions.cli.serving import serve
from clm_sessions.cli.showing import list_, plugins_, show
from clm_sessions.errors import ClmError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, package_name="clm-sessions")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:
    """Read the session logs of AI agents into one SQLite file, and browse them.

    Logs are private: the database is readable by you alone, and is served to this machine alone.
    """
    context.ensure_object(dict)
    context.obj["debug"] = debug
    if "registry" not in context.obj:
        context.obj["registry"] = plugins.from_environment()


for command in (import_, list_, show, plugins_, serve, check_log, verify, export_log):
    cli.add_command(command)


def main() -> None:
    """Run the command with the commands of plugins. An error is one line on stderr and exit code 1."""
    found = plugins.from_environment()
    found.register_commands(cli)
    try:
        cli.main(obj={"registry": found}, standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stdout = None
        sys.exit(141)
    except (ClmError, OSError) as error:
        if "--debug" in sys.argv:
            raise
        click.echo(f"clm-sessions: {plain(_said(error))}", err=True)
        sys.exit(1)


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}"
    return str(error)
