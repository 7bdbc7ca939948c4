"""ipywidgets 7.7, as some hosts still have it, on the side of the kernel."""

import os
import subprocess
import sys

import pytest

from support.notebooks import LOGS, environment

CODE = """
import sys
import ipywidgets
assert ipywidgets.__version__.startswith("7.7"), ipywidgets.__version__
from IPython.core.interactiveshell import InteractiveShell
import jupyter_clm as jc

published = []
import IPython.display
IPython.display.display = lambda data, raw: published.append(set(data))
view = jc.load_all(sys.argv[1])["b3fefa1a"].view(query="kale", page_size=2)
view._ipython_display_()
view._controls.next.click()
view._controls.boxes["ai"].value = False
view.selected = 66
view.only_hits, view.tools, view.expanded = False, ("Bash",), True
view._controls.outline.value = view._controls.outline.options[3][1]
view.tools, view.query, view.selected = (), "", 66
print(view.n_hits, view.page, view.kinds, [sorted(p) for p in published])
left = len(ipywidgets.Widget.widgets)
view.close()
print(left - len(ipywidgets.Widget.widgets) > 20)
"""


@pytest.mark.slow
def test_the_view_works_on_ipywidgets_7_7(tmp_path):
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(tmp_path),
        "ipywidgets==7.7.1",
        "ipython_genutils",
    ]
    got = subprocess.run(pip, check=False, capture_output=True, text=True)
    if got.returncode:
        pytest.skip(f"ipywidgets 7.7.1 could not be installed: {got.stderr.strip()[-200:]}")
    env = environment()
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), env["PYTHONPATH"]])
    done = subprocess.run([sys.executable, "-c", CODE, str(LOGS)], check=False, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    shown, freed = done.stdout.splitlines()
    assert shown.startswith("147 34 ('user', 'ai', 'system', 'compact') [['text/html', 'text/plain'], ")
    assert "widget-view+json" in shown
    assert freed == "True"
