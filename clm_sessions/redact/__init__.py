"""Redaction: what must not be seen by others is found by redactors and replaced once, on the way out.

Our own rules (``Secrets``) are the floor; plugins add redactors by ``clm_register_redactors``.
"""

from clm_sessions.redact.engine import WITHHELD, Redaction, Sample, Tally
from clm_sessions.redact.personal import KINDS, Personal, user_names
from clm_sessions.redact.secrets import Secrets
from clm_sessions.redact.spans import Redactor, Span, merged
from clm_sessions.redact.walk import walked

__all__ = [
    "KINDS",
    "WITHHELD",
    "Personal",
    "Redaction",
    "Redactor",
    "Sample",
    "Secrets",
    "Span",
    "Tally",
    "merged",
    "user_names",
    "walked",
]
