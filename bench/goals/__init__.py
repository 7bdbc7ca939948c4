"""The nine goals, a module each: ``TITLE`` and ``rows(ground)``, which measures and returns its figures."""
