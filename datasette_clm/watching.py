"""``clm-sessions serve --watch``: the watch runs as long as the server does, in a thread, so that no page waits for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


def beside(receive: Receive) -> Receive:
    """The lifespan messages of a server; with them the watch that was ordered begins and ends, if one was."""
    from clm_sessions.watch.background import ordered

    watch = ordered(os.environ)
    if watch is None:
        return receive

    async def received() -> MutableMapping[str, Any]:
        message = await receive()
        if message["type"] == "lifespan.startup":
            watch.start()
        elif message["type"] == "lifespan.shutdown":
            await asyncio.to_thread(watch.stop)
        return message

    return received
