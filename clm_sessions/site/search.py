"""What can be found in a site: the texts of each session, and the index of their words, as scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clm_sessions.render.escape import visible
from clm_sessions.site.data import script
from clm_sessions.site.folder import Write
from clm_sessions.site.words import Index
from clm_sessions.store.schema import INDEXED_CHARACTERS
from clm_sessions.store.unspaced import CHARACTERS
from clm_sessions.view import ChunkView

_SAYS = {"user": "Prompt", "ai": "Reply", "compact": "Summary", "system": "Output"}
_SPOKEN = {"text", "markdown", "command"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person or the agent says in a chunk, or a title (``seq`` None): what it is, and its text."""

    seq: int | None
    what: str
    text: str


def said(view: ChunkView) -> Iterator[Said]:
    """The prompt, reply or summary of a chunk, if there is one, as far as search goes."""
    own = view.sections if view.kind != "ai" else ()
    sections = (*own, *(section for step in view.steps if step.kind == "text" for section in step.sections))
    text = "\n\n".join(each.text for each in sections if each.kind in _SPOKEN and not each.folded)
    if text.strip():
        yield Said(seq=view.seq, what=_SAYS.get(view.kind, "Text"), text=text[:INDEXED_CHARACTERS])


class Search:
    """Collects what is said, a group for each session in the list; the page of the list asks it."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._index = Index()
        self._groups: list[tuple[str, int]] = []

    def group(self, name: str, places: Sequence[tuple[str, Said]]) -> None:
        """The next session of the list, of file ``name``: each place with its address in the folder of sessions."""
        told = [(href, one.what, visible(one.text)) for href, one in places]
        for _href, _what, text in told:
            self._index.add(text)
        self._write(f"data/text-{name}.js", script(f"text-{name}", told))
        self._groups.append((name, len(told)))

    def finish(self) -> None:
        """Write the index, and what says where in it a word stands."""
        starts = []
        for number, file in enumerate(self._index.files()):
            starts.append(file["words"].split(" ", 1)[0])
            self._write(f"data/words-{number}.js", script(f"words-{number}", file))
        told = {"unspaced": CHARACTERS, "starts": starts, "groups": self._groups}
        self._write("data/search.js", script("search", told))
