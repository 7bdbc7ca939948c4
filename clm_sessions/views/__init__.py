"""From the values of a chunk to its card: ``build`` is the way in (see ``clm_sessions.view.chunk_view``)."""
