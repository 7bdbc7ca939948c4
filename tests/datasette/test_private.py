"""A private database is shown to requests made on this machine, and to no other: every way in, on both lines."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from datasette.plugins import pm
from datasette.utils import StartupError
from datasette.utils.asgi import Response

from clm_sessions.errors import DatabaseError
from datasette_clm import private
from datasette_clm._compat import hookimpl
from support.addresses import addresses
from support.logs import import_logs
from support.outside import HERE, LAN, ask
from support.site import MODERN, cookies, full_log, site

pytestmark = pytest.mark.asyncio
SQL = "/full/-/query.json?sql=" if MODERN else "/full.json?sql="
WAYS = (
    "/", "/.json", "/full", "/full.json", "/full.db", "/full/messages", "/full/messages.json", "/full/messages.csv",
    "/full/messages.csv?_stream=1", "/full/messages/1", "/full/messages/1.json", "/full/messages_fts",
    "/full/messages_fts_data.json", "/full/messages_fts_content.json", "/full/attachments/1.blob?_blob_column=data",
    f"{SQL}select+*+from+messages", f"{SQL}select+*+from+_clm_meta", "/full/all_of_it.json",
    "/_memory?sql=select+*+from+full.messages", "/_memory/-/query?sql=select+*+from+full.messages",
    "/-/databases", "/-/databases.json", "/-/jump", "/-/jump.json?q=Title", "/-/tables.json?q=mess", "/-/search-all?q=word",
    "/-/metadata.json", "/-/config.json", "/-/plugins.json", "/-/permissions", "/-/allow-debug", "/-/schema", "/full/-/schema",
    "/full/messages/-/schema", "/-/mcp", "/nobody", "/nobody.db", "/-/anything-else", "//full", "/%66ull", "/FULL",
    "/-/clm-sessions/clm.css", "/-/static/app.css",
)  # fmt: skip
FORWARDED = (
    ("Forwarded", "for=127.0.0.1"), ("X-Forwarded-For", "127.0.0.1"), ("x-forwarded-host", "localhost"),
    ("X-Forwarded-Proto", "https"), ("X-Real-IP", "127.0.0.1"), ("Via", "1.1 proxy"), ("X-Original-URI", "/"),
    ("CF-Connecting-IP", "127.0.0.1"), ("True-Client-IP", "::1"), ("X-Client-IP", "::1"),
)  # fmt: skip
HERE_NAMES = ("localhost", "LOCALHOST:8001", "localhost.", "app.localhost:1", "127.0.0.1", "127.8.9.1:80", "[::1]:8001")
OTHER_NAMES = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "0.0.0.0:8001",
    "192.0.2.7",
    "",
    "[::",
    None,
)
CANARIES = ("CANARY", "Title word", "/home/dev", "full", "messages")
QUERY = {"databases": {"full": {"queries": {"all_of_it": {"sql": "select * from messages"}}}}}


def ruled(serve=None, **more):
    return {"plugins": {"clm-sessions": {**({"serve_private": serve} if serve else {}), **more}}}


def told(reply):
    """What a refused request learned."""
    return [canary for canary in CANARIES if canary in reply.text or canary in str(reply.headers)]


def ours(sid):
    """All addresses of the plugin."""
    return addresses({"database": "full", "session": sid, **dict.fromkeys(("chunk", "message", "name"), "1")})


async def test_every_way_to_a_private_database_is_closed_to_another_machine(full):
    ds = await site(metadata=QUERY, crossdb=True, immutables=[str(full[0])])
    for path in (*WAYS, *ours(full[1])):
        reply = await ask(ds, path, client=LAN)
        assert (reply.status, told(reply)) == (403, []), path
        assert "clm-sessions publish" in reply.text
        assert reply.headers["cache-control"] == "no-store"


async def test_whether_anything_exists_is_not_told_to_another_machine(full):
    ds = await site(full[0])
    replies = [
        await ask(ds, path, client=LAN) for path in ("/full", "/nobody", "/full/nothing", f"/full/-/session/{full[1]}")
    ]
    assert len({(reply.status, reply.text, str(reply.headers)) for reply in replies}) == 1


async def test_this_machine_sees_everything(full):
    ds = await site(metadata=QUERY, immutables=[str(full[0])])
    for path in (
        "/",
        "/full/messages.json",
        f"/full/-/session/{full[1]}",
        f"{SQL}select+1",
        "/full.db",
        "/-/databases.json",
    ):
        for client in (HERE, ("::1", 1), ("::ffff:127.0.0.1", 1), ("127.3.2.1", 1)):
            assert (await ask(ds, path, client=client)).status == 200, (path, client)
    assert (await ds.client.get("/full/messages.json")).status_code == 200


async def test_only_the_address_of_the_socket_says_who_is_here(full):
    ds = await site(full[0])
    for client in (LAN, ("10.0.0.2", 1), ("::2", 1), ("::ffff:192.0.2.7", 1), ("", 1), ("localhost", 1), None):
        assert (await ask(ds, "/full", client=client)).status == 403, client


async def test_a_request_that_was_handed_on_is_not_from_here(full):
    ds = await site(full[0])
    for header in FORWARDED:
        for path in ("/", "/full.db", "/full/messages.json", f"/full/-/session/{full[1]}"):
            reply = await ask(ds, path, headers=[header])
            assert (reply.status, told(reply)) == (403, []), (path, header)
            assert "proxy" in reply.text


async def test_http_1_0_is_spoken_by_proxies_alone(full):
    ds = await site(full[0])
    assert (await ask(ds, "/full", version="1.0")).status == 403


async def test_a_name_that_is_not_of_this_machine_is_refused_so_dns_cannot_be_rebound(full):
    ds = await site(full[0])
    for name in OTHER_NAMES:
        for path in ("/", "/full.db", "/full/messages.json", f"/full/-/session/{full[1]}"):
            reply = await ask(ds, path, headers={"Host": name})
            assert (reply.status, told(reply)) == (403, []), (path, name)
    assert (await ask(ds, "/full", headers=[("Host", "localhost"), ("Host", "evil.example")])).status == 403
    for name in HERE_NAMES:
        assert (await ask(ds, "/full", headers={"Host": name})).status == 200, name


async def test_a_page_of_another_site_reads_nothing_even_with_cors(full):
    ds = await site(full[0], cors=True)
    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://0.0.0.0:8001"):
        reply = await ask(ds, "/full/messages.json", headers={"Origin": origin})
        assert (reply.status, told(reply)) == (403, []), origin
        assert "access-control-allow-origin" not in reply.headers
    assert (await ask(ds, "/full/messages.json", headers={"Origin": "http://localhost:8888"})).status == 200


async def test_names_of_this_machine_may_be_added(full):
    ds = await site(full[0], metadata=ruled(local_hosts=["Laptop.test"]))
    assert (await ask(ds, "/full", headers={"Host": "laptop.test:8001"})).status == 200
    assert (await ask(ds, "/full", headers={"Host": "other.test:8001"})).status == 403
    assert (await ask(ds, "/full", headers={"Host": "laptop.test:8001"}, client=LAN)).status == 403


async def test_a_published_copy_is_served_to_everybody(published):
    ds = await site(published)
    for path in ("/", "/full/messages.json", "/full/-/overview"):
        assert (
            await ask(ds, path, client=LAN, headers={"Host": "sessions.example", "X-Forwarded-For": "x"})
        ).status == 200


async def test_one_private_database_closes_the_server_also_for_what_lies_beside_it(full, published, tmp_path):
    copy = tmp_path / "shown.db"
    shutil.copy(published, copy)
    ds = await site(copy, full[0])
    for path in ("/", "/shown", "/shown/messages.json", "/-/databases.json"):
        assert (await ask(ds, path, client=LAN)).status == 403, path
        assert (await ask(ds, path)).status == 200, path


async def test_databases_of_others_alone_are_none_of_our_business(tmp_path):
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE sessions (id)")
    ds = await site(other)
    assert (await ask(ds, "/other/sessions.json", client=LAN)).status == 200


@pytest.mark.parametrize("stem", ["_full", "my data.v1"])
async def test_the_name_of_the_file_makes_no_difference(full, tmp_path, stem):
    copy = tmp_path / f"{stem}.db"
    shutil.copy(full[0], copy)
    ds = await site(copy)
    assert (await ask(ds, "/", client=LAN)).status == 403


async def test_a_database_that_becomes_private_while_it_is_served_is_closed(published, tmp_path):
    """Attached later, filled later, or with a private file put in the place of the published one."""
    logs, late = tmp_path / "logs", tmp_path / "late.db"
    full_log(logs)
    with closing(sqlite3.connect(late)) as db:
        db.execute("VACUUM")
    ds = await site(published, late)
    assert (await ask(ds, "/", client=LAN)).status == 200
    import_logs(late, logs)
    assert (await ask(ds, "/late/messages.json", client=LAN)).status == 403

    copy = tmp_path / "copy.db"
    shutil.copy(published, copy)
    ds = await site(copy)
    assert (await ask(ds, "/copy/messages.json", client=LAN)).status == 200
    with closing(sqlite3.connect(copy)) as db:
        db.execute("DELETE FROM _clm_meta WHERE key = 'published'")
        db.commit()
    assert (await ask(ds, "/copy/messages.json", client=LAN)).status == 403


async def test_a_database_that_cannot_be_looked_at_counts_as_private(published, tmp_path):
    copy = tmp_path / "copy.db"
    shutil.copy(published, copy)
    ds = await site(copy)
    assert (await ask(ds, "/-/databases.json", client=LAN)).status == 200
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert (await ask(ds, "/-/databases.json", client=LAN)).status == 403
        db.execute("COMMIT")
    assert (await ask(ds, "/-/databases.json", client=LAN)).status == 200


async def test_an_import_into_a_published_copy_is_refused(published, tmp_path):
    copy = tmp_path / "copy.db"
    shutil.copy(published, copy)
    before = copy.read_bytes()
    full_log(tmp_path / "logs")
    with pytest.raises(DatabaseError, match=r"published copy.*name the private database"):
        import_logs(copy, tmp_path / "logs")
    assert copy.read_bytes() == before


class Neighbour:
    """Another plugin: a page that asks nobody, a page that asks Datasette, and an answer before any page."""

    __name__ = "neighbour"  # 0.65 asks for it

    @hookimpl
    def register_routes(self):
        async def everything(datasette):
            rows = await datasette.get_database("full").execute("select search_text from messages")
            return Response.text(str([tuple(row) for row in rows]))

        async def through(datasette):
            await datasette.client.get("/")
            return Response.text((await datasette.client.get("/full/messages.json")).text)

        async def after(datasette, request):
            await datasette.client.get("/")
            return Response.text((await datasette.client.get("/-/databases.json")).text)

        return [(r"^/-/search-all$", everything), (r"^/-/mcp$", through), (r"^/-/after$", after)]

    @hookimpl
    def asgi_wrapper(self, datasette):
        def wrap(app):
            async def wrapped(scope, receive, send):
                if scope.get("path") != "/-/wrapped":
                    await app(scope, receive, send)
                    return
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": str(list(datasette.databases)).encode()})

            return wrapped

        return wrap


@pytest.fixture
def neighbour():
    """The plugin, for one test."""
    plugin = Neighbour()
    pm.register(plugin, name="neighbour")
    yield
    pm.unregister(plugin)


async def test_pages_of_other_plugins_are_closed_too(full, neighbour):
    ds = await site(full[0])
    for path in ("/-/search-all", "/-/mcp", "/-/wrapped"):
        assert (await ask(ds, path)).status == 200, path
        reply = await ask(ds, path, client=LAN)
        assert (reply.status, told(reply)) == (403, []), path


async def test_a_web_socket_of_another_machine_is_closed(full):
    ds, sent = await site(full[0]), []

    async def send(message):
        sent.append(message)

    scope = {"type": "websocket", "path": "/", "query_string": b"", "headers": [], "client": LAN, "http_version": "1.1"}
    await ds.app()(scope, None, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


# -- what the setting opens -----------------------------------------------------------------------------------------


async def test_to_those_who_signed_in_a_private_database_can_be_opened(full):
    ds = await site(full[0], metadata=ruled("authenticated"))
    alice = {"cookie": f"ds_actor={cookies(ds, 'alice')['ds_actor']}", "host": "sessions.example"}
    for path in ("/", "/full/messages.json", f"/full/-/session/{full[1]}", f"{SQL}select+1", "/-/databases.json"):
        assert (await ask(ds, path, client=LAN, headers=alice)).status == 200, path
        assert (await ask(ds, path)).status == 200, path


async def test_where_people_must_sign_in_nobody_else_from_elsewhere_sees_anything(full):
    metadata = {**QUERY, **ruled("authenticated")}
    metadata["databases"]["full"]["tables"] = {"messages": {"allow": True}}
    ds = await site(full[0], metadata=metadata, crossdb=True)
    forged = {"cookie": "ds_actor=forged", "x-forwarded-for": "127.0.0.1"}
    nothing_of_it = ("/-/clm-sessions/clm.css", "/-/static/app.css", "/-/allow-debug")
    for path in {*WAYS, *ours(full[1])}.difference(nothing_of_it):
        for asked in ({"client": LAN}, {"headers": {"Host": "evil.example"}}, {"headers": forged}):
            reply = await ask(ds, path, **asked)
            assert reply.status != 200 or path.startswith(("/-/jump", "/-/tables", "/-/schema")), (path, asked)
            words = (*CANARIES[:3], "CREATE TABLE", 'href="/full', '"/full')
            assert not [word for word in words if word in reply.text], (path, asked)
            assert "all_of_it" not in reply.text.replace(path, ""), (path, asked)


async def test_what_a_plugin_asks_for_a_stranger_is_asked_by_a_stranger(full, neighbour):
    ds = await site(full[0], metadata=ruled("authenticated"))
    for path in ("/-/mcp", "/-/after"):
        assert "CANARY" not in (await ask(ds, path, client=LAN)).text
        assert '"path"' not in (await ask(ds, path, client=LAN)).text
    assert "CANARY" in (await ask(ds, "/-/mcp")).text


async def test_a_private_database_can_be_opened_to_anyone_by_saying_so(full):
    ds = await site(full[0], metadata=ruled("anyone"))
    for path in ("/", "/full/messages.json", f"/full/-/session/{full[1]}"):
        assert (await ask(ds, path, client=LAN, headers={"Host": "sessions.example", "Via": "1.0 x"})).status == 200
    ds = await site(full[0], metadata={**ruled("anyone"), "allow": {"id": "alice"}})
    assert (await ask(ds, "/full/messages.json", client=LAN)).status == 403


@pytest.mark.parametrize(
    "wrong", [{"serve_private": "everyone"}, {"serve_private": ["loopback"]}, "anyone", {"local_hosts": "laptop.test"}]
)
async def test_a_setting_that_says_something_else_stops_the_start(full, wrong):
    with pytest.raises(StartupError, match=r"^plugin clm-sessions: .*"):
        await site(full[0], metadata={"plugins": {"clm-sessions": wrong}})


async def test_the_reason_is_told(full):
    ds = await site(full[0])
    asked = {
        "another address": {"client": LAN},
        "Unix socket": {"client": None},
        "HTTP/1.0": {"version": "1.0"},
        "headers": {"headers": {"Via": "x"}},
        "host name": {"headers": {"Host": "evil.example"}},
        "another site": {"headers": {"Origin": "https://evil.example"}},
    }
    for words, how in asked.items():
        text = (await ask(ds, "/full", **how)).text
        assert words in text.splitlines()[0]
        assert private.LOOPBACK not in text
        assert "serve_private" in text
