"""All files below the roots as they were last seen: what the system does not tell of is found by comparing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clm_sessions.ingest.discover import around
from clm_sessions.sources import FileStat, Found


class Tree:
    """The stat of every file that an import of the roots looks at."""

    def __init__(self) -> None:
        self._seen: dict[str, FileStat] = {}

    def __len__(self) -> int:
        return len(self._seen)

    def changed(self, roots: Iterable[Path]) -> set[str]:
        """The paths of files that are new, other or gone since the last call."""
        before, self._seen = self._seen, {}
        for root in roots:
            self._seen.update((item.path, item.stat) for item in around(root) if isinstance(item, Found))
        changed = {path for path, stat in self._seen.items() if before.get(path) != stat}
        return changed | (before.keys() - self._seen.keys())
