"""``clm-sessions completion``: what a shell needs to complete our commands, options, session ids and tables."""

from __future__ import annotations

import click

from clm_sessions.errors import UsageError

_PROGRAM = "clm-sessions"
_VARIABLE = "_CLM_SESSIONS_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    r"""Print the completion script of a SHELL.

    It is to be loaded when the shell starts:

    \b
    bash  eval "$(clm-sessions completion bash)"       in ~/.bashrc
    zsh   eval "$(clm-sessions completion zsh)"        in ~/.zshrc
    fish  clm-sessions completion fish | source        in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    if maker is None or context.parent is None:
        raise UsageError(f"no completion for {shell}")
    click.echo(maker(context.parent.command, {}, _PROGRAM, _VARIABLE).source())
