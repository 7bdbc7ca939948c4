"""What a person decides about a publication, as one value: for the command, the review page, and the report."""

from __future__ import annotations

from dataclasses import dataclass, field

from clm_sessions.errors import UsageError
from clm_sessions.publish.mask import PARTS
from clm_sessions.publish.rules import Rules
from clm_sessions.redact import KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """``left_out``: some of ``PARTS``; ``personal``: kinds of personal data to hide (``redact.KINDS``).

    ``hide``: words and names of the person's own, hidden everywhere. ``keep``: values that stay though a redactor found
    them; ``rules`` says the same of findings by their digests. UsageError for a part or kind that there is not.
    """

    left_out: frozenset[str] = frozenset({"images"})
    personal: frozenset[str] = frozenset(KINDS)
    hide: tuple[str, ...] = ()
    keep: frozenset[str] = field(default=frozenset())
    rules: Rules | None = None

    def __post_init__(self) -> None:
        for given, known, what in ((self.left_out, PARTS, "part"), (self.personal, KINDS, "kind of personal data")):
            wrong = sorted(set(given) - set(known))
            if wrong:
                raise UsageError(f"no {what} {wrong[0]!r}; there are: {', '.join(known)}")

    def __contains__(self, value: object) -> bool:
        """Whether a value that was found stays."""
        return isinstance(value, str) and (value in self.keep or (self.rules is not None and self.rules.keeps(value)))

    def everywhere(self, value: str) -> bool:
        """Whether a value that was found is to be hidden wherever it stands."""
        return self.rules is not None and self.rules.hides(value)
