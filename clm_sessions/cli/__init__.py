"""The ``clm-sessions`` command: thin; each command says what it does and calls the room that does it."""

from __future__ import annotations

import os
import sqlite3
import sys
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click

from clm_sessions import __version__, plugins
from clm_sessions.cli.common import plain
from clm_sessions.errors import ClmError
from clm_sessions.store.connect import what_failed

COMMANDS = {
    "import": "importing.import_",
    "watch": "watching.watch_",
    "serve": "serving.serve",
    "list": "listing.list_",
    "search": "searching.search",
    "show": "showing.show",
    "stats": "counting.stats_",
    "prices": "pricing.prices_",
    "export": "exporting.export",
    "export-table": "exporting.export_table",
    "export-log": "keeping.export_log",
    "publish": "publishing.publish_",
    "site": "siting.site_",
    "forget": "forgetting.forget_",
    "check": "looking.check_",
    "verify": "keeping.verify",
    "check-log": "checking.check_log",
    "plugins": "listing.plugins_",
    "completion": "completing.completion",
}
"""Where each command stands. It is loaded when it is asked for, so that an import need not load what shows."""


class _Later(click.Command):
    """Holds the place of a command that is not loaded yet."""

    def load(self) -> click.Command:
        module, name = COMMANDS[str(self.name)].split(".")
        command: click.Command = getattr(import_module(f"{__name__}.{module}"), name)
        return command


class _Failure(click.ClickException):
    """An error of ours: one line that names the program."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"clm-sessions: {self.message}", err=True, file=file)


class _Misuse(_Failure):
    """A command line that makes no sense."""

    exit_code = 2


class _Group(click.Group):
    """A group whose errors are one line wherever it is mounted, and a traceback with ``--debug``.

    ``--debug`` and ``--config`` may stand behind the name of a command too.
    """

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        there = {option for param in cmd.params for option in param.opts}
        cmd.params += [option for option in _shared(hidden=True) if not there.intersection(option.opts)]
        super().add_command(cmd, name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        if isinstance(found, _Later):
            self.add_command(found.load())
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what a command returns
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever read along has seen enough
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for what is flushed at the end
            ctx.exit(0)
        except click.UsageError as error:
            command = error.ctx.info_name if error.ctx is not None and error.ctx is not ctx else None
            raise _wrong(error, command) from error
        except (ClmError, OSError, sqlite3.Error) as error:
            if ctx.find_object(dict) and ctx.obj.get("debug"):
                raise
            raise _Failure(plain(_said(error))) from error


def _shared(*, hidden: bool) -> list[click.Option]:
    return [
        click.Option(
            ["--config"], type=click.Path(path_type=Path), metavar="FILE", hidden=hidden, expose_value=False,
            callback=_keep, help="Settings (TOML) from this file; see docs/terminal.md.",
        ),
        click.Option(
            ["--debug"], is_flag=True, hidden=hidden, expose_value=False, callback=_keep,
            help="Show the whole traceback of an error.",
        ),
    ]  # fmt: skip


def _keep(context: click.Context, param: click.Parameter, value: object) -> None:
    """Keep an option of all commands for whoever asks for it."""
    shared = context.ensure_object(dict)
    if value and param.name is not None:
        shared[param.name] = value


def _wrong(error: click.UsageError, command: str | None) -> _Misuse:
    """A command line that makes no sense, in one line."""
    words = ["clm-sessions", *([command] if command else [])]
    return _Misuse(f"{plain(error.format_message())} (see: {' '.join(words)} --help)")


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=_shared(hidden=False),
)
@click.version_option(__version__, package_name="clm-sessions")
@click.pass_context
def cli(context: click.Context) -> None:
    """Read the session logs of AI agents into one SQLite file, and browse them.

    Logs are private: the database is readable by you alone, and is served to this machine alone.
    """
    shared = context.ensure_object(dict)
    if "registry" not in shared:
        shared["registry"] = plugins.from_environment()


for _name in COMMANDS:
    cli.add_command(_Later(_name))


def command_group() -> click.Group:
    """The group with the commands of plugins, to be mounted in another program."""
    plugins.from_environment().register_commands(cli)
    return cli


def main() -> None:
    """Run the command with the commands of plugins. An error is one line on stderr and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        found = plugins.from_environment()
        found.register_commands(cli)
        cli.main(prog_name="clm-sessions", obj={"registry": found}, standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.UsageError as error:
        _wrong(error, None).show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)


def _said(error: Exception) -> str:
    if isinstance(error, sqlite3.Error):
        return f"the database: {what_failed(error)}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the system'}: {error.strerror}"
    return str(error)
