"""How a live view gets into a notebook so that exactly one readable form of it is seen.

Two outputs: the static snapshot, then the widget. Measured in JupyterLab and Notebook 7: a widget without its kernel
shows an error line and never its text/html alternative, so the alternative must be an output of its own. Style alone
swaps them: the snapshot hides while its live view is in the page, and the error line hides while it is not.
"""

from __future__ import annotations

from typing import Any

from jupyter_clm.extras import need

WIDGET = "application/vnd.jupyter.widget-view+json"
NOTHING = '<span class="clm-none"></span>'
"""HTML for hosts that show no widgets: the snapshot above it is what they show."""


def swap_style(token: str) -> str:
    """The rules of the swap. The live view carries the class ``clm-live-<token>``, the snapshot ``clm-snap-<token>``."""
    live, snap = f".clm-live-{token}", f".clm-snap-{token}"
    output = ".jp-OutputArea-child"
    return (
        f"\n:root:has({live}) {snap}{{display:none}}\n{output}:has({snap})+{output}:not(:has({live})){{display:none}}"
    )


def widget_bundle(model_id: str) -> dict[str, Any]:
    """The MIME bundle of the widget output; its text forms are empty because the snapshot has said it all."""
    return {
        WIDGET: {"version_major": 2, "version_minor": 0, "model_id": model_id},
        "text/plain": "",
        "text/html": NOTHING,
    }


def publish(snapshot: str, text: str, model_id: str | None) -> None:
    """Put the two outputs into the running cell; of a view that was closed (None) only the first."""
    display = need("IPython.display", "jupyter", "the live view").display
    display({"text/html": snapshot, "text/plain": text}, raw=True)
    if model_id is not None:
        display(widget_bundle(model_id), raw=True)
