"""JupyterLab as a person has it: a server of its own in a fresh home, and a notebook driven in Chromium."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Browser, Locator, Page

import jupyter_clm

TOKEN = "t"
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
CHROMIUM = {
    "executable_path": os.environ.get("CLM_CHROMIUM", "/usr/bin/chromium"),
    "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
}


@dataclass
class Lab:
    """A running server. ``root`` is the folder it shows, ``url`` ends without a slash."""

    url: str
    root: Path
    process: subprocess.Popen[bytes]
    env: dict[str, str]

    def write(
        self, name: str, cells: list[str], *, outputs: list[list[Any]] | None = None, trusted: bool = False
    ) -> Path:
        """A notebook of code cells; ``outputs`` puts outputs into it, as if it had been run before."""
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        for cell, made in zip(book.cells, outputs or [], strict=False):
            cell.outputs = made
        path = self.root / name
        nbformat.write(book, path)
        if trusted:
            self.trust(path)
        return path

    def trust(self, path: Path) -> None:
        """Sign the notebook as the server does for one that was run here."""
        subprocess.run(
            [sys.executable, "-m", "jupyter", "trust", str(path)], env=self.env, check=True, capture_output=True
        )


def start(folder: Path) -> Lab:
    """Start the server in an empty folder and wait until it answers."""
    root = folder / "notebooks"
    root.mkdir(parents=True)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    places = {
        f"JUPYTER{name}_DIR": str(folder / name.lower().strip("_"))
        for name in ("_CONFIG", "_DATA", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")
    }
    here = str(Path(jupyter_clm.__file__).parents[1])
    env = {
        **os.environ,
        **places,
        **_data(),
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONPATH": here,
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
    }
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={root}", "--expose-app-in-browser",
        "--JupyterNotebookApp.expose_app_in_browser=True",
    ]  # fmt: skip
    quiet = folder / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=root)
    url = f"http://127.0.0.1:{port}"
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"{url}/api/status?token={TOKEN}", timeout=2):
                return Lab(url, root, process, env)
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.25)
    process.kill()
    process.wait()
    raise AssertionError(f"JupyterLab did not start:\n{(folder / 'server.log').read_text()[-3000:]}")


def _data() -> dict[str, str]:
    """Where Jupyter finds templates, settings and extensions of packages in this environment and in the one beside it."""
    import jupyterlab

    prefixes = dict.fromkeys((Path(sys.prefix), Path(jupyterlab.__file__).parents[4]))
    return {
        "JUPYTER_PATH": os.pathsep.join(str(one / "share/jupyter") for one in prefixes),
        "JUPYTER_CONFIG_PATH": os.pathsep.join(str(one / "etc/jupyter") for one in prefixes),
        "JUPYTERLAB_DIR": str([*prefixes][-1] / "share/jupyter/lab"),
    }


def stop(lab: Lab) -> None:
    lab.process.terminate()
    try:
        lab.process.wait(20)
    except subprocess.TimeoutExpired:
        lab.process.kill()
        lab.process.wait()


CELLS = "window.jupyterapp.shell.currentWidget.content.widgets.filter(c => c.model.type === 'code')"
STATES = """
function ran(cell) { return cell.model.executionCount && (cell.model.executionState ?? 'idle') === 'idle' }
function failed(cell) {
  return cell.model.sharedModel.getOutputs().filter(o => o.output_type === 'error').map(o => o.traceback.join('\\n'))[0]
}
"""


class Notebook:
    """A notebook open in JupyterLab. ``strangers``: requests that left the server; ``errors``: uncaught page errors."""

    def __init__(self, browser: Browser, lab: Lab, *, width: int = 1400, height: int = 1000) -> None:
        self.lab = lab
        self.context = browser.new_context(viewport={"width": width, "height": height})
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.strangers: list[str] = []
        self.errors: list[str] = []
        self.context.on("request", self._note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, request: Any) -> None:
        host = self.lab.url.removeprefix("http")
        if not request.url.removeprefix("http").removeprefix("ws").startswith(host) and not request.url.startswith(
            ("data:", "blob:")
        ):
            self.strangers.append(request.url)

    def open(self, path: Path, *, kernel: bool = True, program: str = "doc/tree") -> Notebook:
        """``program``: ``doc/tree`` is JupyterLab, ``notebooks`` is Notebook 7."""
        name = path.relative_to(self.lab.root).as_posix()
        self.page.goto(f"{self.lab.url}/{program}/{name}?token={TOKEN}")
        self.page.wait_for_function(
            "() => { const w = window.jupyterapp?.shell.currentWidget; return w?.context?.isReady && w?.content?.widgets?.length > 0 }",
            timeout=60_000,
        )
        if kernel:
            self.idle()
        return self

    def idle(self) -> None:
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'",
            timeout=60_000,
        )

    def command(self, name: str, **arguments: Any) -> None:
        self.page.evaluate("([name, args]) => window.jupyterapp.commands.execute(name, args)", [name, arguments])

    def theme(self, name: str) -> None:
        """Light or dark; waits until the page has it."""
        self.command("apputils:change-theme", theme=name)
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeName === {json.dumps(name)}")

    def run(self) -> None:
        """Run all cells and wait for the last one; a cell that fails is an AssertionError with its traceback."""
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(
            f"() => {{ const c = {CELLS}; return c.some(failed) || c.every(ran); {STATES} }}", timeout=120_000
        )
        failure = self.page.evaluate(f"() => {{ const c = {CELLS}; return c.map(failed).find(e => e); {STATES} }}")
        assert not failure, failure
        self.idle()

    def save(self) -> None:
        self.command("docmanager:save")
        self.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")

    def shut_down(self) -> None:
        """End the kernel, as a person does before going home."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    def output(self, cell: int) -> Locator:
        return self.page.locator(".jp-Cell").nth(cell).locator(".jp-Cell-outputArea")

    def close(self) -> None:
        self.context.close()


FORMS = """element => [...element.querySelectorAll('.clm-root')]
  .filter(e => !e.parentElement.closest('.clm-root') && e.checkVisibility() && e.getBoundingClientRect().height > 50)
  .map(e => e.matches('.clm-view') ? 'live' : 'static')"""


def forms(place: Locator) -> list[str]:
    """What of ours is seen in this place: ``live`` and ``static`` forms, from top to bottom."""
    found: list[str] = place.evaluate(FORMS)
    return found


def untrusted(lab: Lab, path: Path, name: str) -> Path:
    """The same notebook as somebody else's: with its outputs, but not as they were signed."""
    made = nbformat.read(path, as_version=4)
    outputs = [[nbformat.from_dict({**o, "metadata": {"x": 1}}) for o in cell.outputs] for cell in made.cells]
    return lab.write(name, [cell.source for cell in made.cells], outputs=outputs)
