"""The ``clm-sessions`` command: thin; each command says what it does and calls the room that does it."""

from __future__ import annotations

import sqlite3
import sys
from typing import IO, Any

import click

from clm_sessions import __version__, plugins
from clm_sessions.cli.checking import check_log
from clm_sessions.cli.common import plain
from clm_sessions.cli.importing import import_
from clm_sessions.cli.keeping import export_log, verify
from clm_sessions.cli.serving import serve
from clm_sessions.cli.showing import list_, plugins_, show
from clm_sessions.errors import ClmError
from clm_sessions.store.connect import what_failed


class _Failure(click.ClickException):
    """An error of ours: one line that names the program."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"clm-sessions: {self.message}", err=True, file=file)


class _Group(click.Group):
    """A group whose errors are one line wherever it is mounted, and a traceback with ``--debug``."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what a command returns
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (ClmError, OSError, sqlite3.Error) as error:
            if ctx.params.get("debug"):
                raise
            raise _Failure(plain(_said(error))) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


def command_group() -> click.Group:
    """The group with the commands of plugins, to be mounted in another program."""
    plugins.from_environment().register_commands(cli)
    return cli


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


def _said(error: Exception) -> str:
    if isinstance(error, sqlite3.Error):
        return f"the database: {what_failed(error)}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}"
    return str(error)
