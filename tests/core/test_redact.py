"""Redaction: what is found in which disguise, what stays, and what replaces it. Corpora: test_redact_corpus.py."""

from __future__ import annotations

import base64
import json
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clm_sessions import plugins
from clm_sessions.errors import PluginError
from clm_sessions.hookspecs import hookimpl
from clm_sessions.redact import WITHHELD, Personal, Redaction, Secrets, Span, merged, user_names, walked
from clm_sessions.redact.known import Known, Pieces

_DICE = random.Random(11)


def made(prefix: str, length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return prefix + "".join(_DICE.choice(letters) for _ in range(length))


TOKEN = made("ghp_", 36)


def redacted(text: str) -> str:
    return Redaction([Secrets()], key=b"k").text(text)


DISGUISES = {
    "as it stands": TOKEN,
    "after a written line end": f'{{"log": "a\\n{TOKEN}"}}',
    "in JSON within JSON": json.dumps(json.dumps({"out": f"x\n{TOKEN}"})),
    "coloured": f"\x1b[31m{TOKEN}\x1b[0m",
    "coloured in its midst": f"{TOKEN[:17]}\x1b[1m{TOKEN[17:]}",
    "with a written colour": f"{TOKEN[:17]}\\u001b[1m{TOKEN[17:]}",
    "with a zero-width space": f"{TOKEN[:17]}\u200b{TOKEN[17:]}",
    "with marks above and below": TOKEN.replace("_", "_\u0301\u0323", 1),
    "with a variation selector": f"{TOKEN[:17]}\ufe0f{TOKEN[17:]}",
    "with an unseen tag": f"{TOKEN[:17]}\U000e0041{TOKEN[17:]}",
    "with a change of direction": f"{TOKEN[:2]}\u202e{TOKEN[2:]}",
    "with NUL as tables show it": f"{TOKEN[:17]}␀{TOKEN[17:]}",
    "with a backspace": f"{TOKEN[:17]}\b{TOKEN[17:]}",
    "coloured in one byte": f"{TOKEN[:17]}\x9b31m{TOKEN[17:]}",
    "in characters of HTML": "".join(f"&#x{ord(c):x};" for c in TOKEN),
    "in HTML within HTML": f"{TOKEN[:17]}&amp;#8203;{TOKEN[17:]}",
    "percent-encoded": f"q%3D{TOKEN.replace('_', '%5F')}%26",
    "wrapped": f"{TOKEN[:25]}\n{TOKEN[25:]}",
    "in a diff, wrapped": f"+{TOKEN[:25]}\n+{TOKEN[25:]}\n+end",
    "in a frame, wrapped": f"│ the key is {'x ' * 8}{TOKEN[:12]} │\n│ {TOKEN[12:]}          │",
    "in a numbered listing, wrapped": f"     9\t{'x ' * 20}{TOKEN[:12]}\n    10\t{TOKEN[12:]}\n",
    "base64": base64.b64encode(f"user:{TOKEN}".encode()).decode(),
    "base64 after the slash of a command": f"/{base64.b64encode(f'user:{TOKEN}'.encode()).decode()}",
    "base64 after a line that looks like base64": f"019ceb6955d070caa6efb462dd129b5e\n{base64.b64encode(f'a={TOKEN}'.encode()).decode()}",
    "base64 with a short last line": base64.encodebytes(f"{'more ' * 6}{TOKEN}".encode()).decode(),
    "base64 before a word": f"{base64.b64encode(f'user :{TOKEN}'.encode()).decode().rstrip('=')}\nfollows",
    "base64 in lines": base64.encodebytes(f'{{"auth": "{TOKEN}", "more": "{"x" * 90}"}}'.encode()).decode(),
}


@pytest.mark.parametrize("text", DISGUISES.values(), ids=DISGUISES)
def test_a_token_is_found_in_every_disguise(text):
    shown = redacted(text)
    assert "[redacted github-token " in shown
    assert TOKEN[4:17] not in shown
    assert TOKEN[-8:] not in shown


def test_one_secret_has_one_tag_in_all_disguises_and_another_in_the_next_publication():
    redaction, later = Redaction([Secrets()]), Redaction([Secrets()])
    tags = {redaction.text(text).split("github-token ")[1][:4] for text in DISGUISES.values()}
    assert tags == {redaction.tag(TOKEN)}
    assert later.mark("a", TOKEN) != redaction.mark("a", TOKEN) or later.tag("x") != redaction.tag("x")


NAMED = {
    "export DB_PASSWORD=tulip9!x": "tulip9!x",
    'password = "S3cr3t!pass"': "S3cr3t!pass",
    "password: str = 'Pa55word!'": "Pa55word!",
    '{"clientSecret": "a8f3k2l9q0w8"}': "a8f3k2l9q0w8",
    "postgres://bob:s3cr3tpw@db.example.com/x": "s3cr3tpw",
    "mysql -u root -pS3cret99 db": "S3cret99",
    "curl -u admin:p4ssw0rd https://x": "p4ssw0rd",
    "deploy --api-key 9f8e7d6c5b4a39281706 --now": "9f8e7d6c5b4a39281706",
    "Authorization: Bearer abcdef0123456789ABCDEF": "abcdef0123456789ABCDEF",
    "Authorization: Basic dXNlcjpwYXNzd29yZA==": "dXNlcjpwYXNzd29yZA==",
    "Cookie: sessionid=abc123def456; theme=dark": "abc123def456",
    "the password is Tr0ub4dor&3 ok": "Tr0ub4dor&3",
    "<password>abc123XYZ</password>": "abc123XYZ",
    "Server=x;User Id=sa;Password=My$ecret1;Database=y": "My$ecret1",
    "machine x login me password hush-hush": "hush-hush",
    "echo 'hush4you' | docker login --password-stdin": "hush4you",
    "+  DB_SECRET: >-\n+    q8Wn3Lr0Zt6Vb1Xy": "q8Wn3Lr0Zt6Vb1Xy",
    '  master_password                  = "kk1Cx4t8OeaX"': "kk1Cx4t8OeaX",
    "SECRET_KEY = 'app-insecure-wnkxsjdthzyps35wkek6b4lv'": "app-insecure-wnkxsjdthzyps35wkek6b4lv",
    "ConvertTo-SecureString -String 'lMju9rYJ' -AsPlainText": "lMju9rYJ",
    r"net use Z: \\srv\share /user:CORP\ada CkH1iRXy": "CkH1iRXy",
    "net user ada CkH1iRXy /add": "CkH1iRXy",
    "htpasswd -bc .htpasswd ada LXaS0S1M": "LXaS0S1M",
    "Password for 'https://ada@git.example.com': OUpQ8SXq": "OUpQ8SXq",
    "-H 'Authorization: Bearer \\\nqqmCZU65IlpujWKYFiJN'": "qqmCZU65IlpujWKYFiJN",
    "deploy --token \\\n  qqmCZU65IlpujWKYFiJN": "qqmCZU65IlpujWKYFiJN",
    "数据库密码：Wx9HCCk2k4": "Wx9HCCk2k4",  # noqa: RUF001 - as Chinese is written
    "访问令牌是“bkBFkYYM54IlLBhAuNvR”。": "bkBFkYYM54IlLBhAuNvR",
    "パスワードは isb7TmLagT です": "isb7TmLagT",
    "Пароль: isb7TmLagT": "isb7TmLagT",
    "La contraseña es mHUAoYX7": "mHUAoYX7",
    "Le mot de passe : ZMWBq6n8": "ZMWBq6n8",
}


@pytest.mark.parametrize(("text", "secret"), NAMED.items())
def test_a_secret_is_known_by_what_it_is_called_and_the_rest_stays(text, secret):
    shown = redacted(text)
    before, after = text.split(secret)
    assert shown.startswith(before)
    assert shown.endswith(after)
    assert secret not in shown


def test_a_private_key_is_hidden_with_its_body_even_if_its_end_was_cut_off():
    body = "\n".join(made("", 64) for _ in range(6))
    whole = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    for text in (whole, json.dumps(whole), whole[:200]):
        shown = redacted(f"see {text} and on")
        assert shown.startswith("see ")
        assert not [line for line in body.split("\n")[:2] if line[:20] in shown]


HARMLESS = [
    "token_count = 12345678",
    "max_tokens: 4096, key=lambda x: x",
    'api_key = os.environ["API_KEY"]',
    'secretKey: getSecret("x")',
    'password = getpass.getpass("Password: ")',
    "def login(user: str, password: str | None = None) -> Token:",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    '"integrity": "sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08=="',
    "request id 5f0c3a5e-6c1e-4a55-9f0a-0b8f1c2d3e4f, toolu_01A09q90qw90lq917835lq9, msg_01XFDUDYJgAACzvnptvVoYEL",
    "model claude-sonnet-4-5-20250929, session 81d62477-9d2e-4c7e-a1f5-1c2d3e4f5a6b",
    '"keyboard": "qwertz123456", "author": "someone1234567890"',
    "see https://example.com/docs?page=2&key=value",
    "user:pass@host, https://user:${PASSWORD}@host/",
    "  --password TEXT     Password for the registry",
    "密码错误，请重新输入。 令牌已过期。 Mot de passe oublié ?",  # noqa: RUF001 - as Chinese is written
    "net use Z: /delete; htpasswd -c file ada",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text):
    assert redacted(text) == text


@given(st.text(max_size=200))
def test_any_text_is_redacted_without_error_and_twice_is_once(text):
    redaction = Redaction([Secrets(), Personal()], key=b"k")
    once = redaction.text(text)
    assert Redaction([Secrets()], key=b"k").text(once) == once or "[redacted" in once


def test_spans_that_overlap_are_one_and_never_leave_the_text():
    spans = [Span(start=-3, end=4, kind="a"), Span(start=2, end=9, kind="b"), Span(start=20, end=99, kind="c")]
    assert [(s.start, s.end) for s in merged("x" * 25, spans)] == [(0, 9), (20, 25)]


class Broken:
    name = "broken"
    version = "1"

    def spans(self, text):
        raise RuntimeError("no")


def test_where_a_redactor_raises_the_text_is_withheld_and_counted():
    redaction = Redaction([Secrets(), Broken()])
    assert redaction.text("harmless") == WITHHELD
    assert redaction.tally.withheld == 1
    assert list(redaction.tally.failures) == ["broken: RuntimeError: no"]


def test_plugins_add_redactors_and_one_that_cannot_stops_everything():
    class Words:
        name = "words"
        version = "1"

        def spans(self, text):
            at = text.find("tulip")
            return [Span(start=at, end=at + 5, kind="flower")] if at >= 0 else []

    class Plugin:
        @hookimpl
        def clm_register_redactors(self):
            return [Words()]

    redactors = plugins.build([Plugin()], entry_points=False).redactors()
    assert [r.name for r in redactors] == ["secrets", "words"]
    assert "tulip" not in Redaction(redactors).text("a tulip")

    class Wrong:
        @hookimpl
        def clm_register_redactors(self):
            return ["nonsense"]

    with pytest.raises(PluginError, match="clm_register_redactors"):
        plugins.build([Wrong()], entry_points=False).redactors()


def test_every_string_of_a_value_is_looked_at_keys_too():
    redaction = Redaction([Secrets()], key=b"k")
    value = {TOKEN: [1, None, {"deep": (TOKEN, True)}], "password": "tulip9!x", "n": 3}
    shown = walked(value, redaction.text)
    assert TOKEN not in json.dumps(shown)
    assert "tulip9!x" not in json.dumps(shown)
    assert shown["n"] == 3
    assert value["password"] == "tulip9!x"


@pytest.mark.parametrize(
    "value",
    [
        [{"name": "DB_PASSWORD", "value": "tulip9!x"}],
        [{"Value": "tulip9!x", "Key": "DB_PASSWORD"}],
        {"password": {"value": "tulip9!x"}},
        {"passwords": [["tulip9!x"]]},
        ["deploy", "--password", "tulip9!x"],
        {"headers": [["X-Password", "tulip9!x"]]},
        {"password": 'ab"tulip9!x'},
        {"password": "ab'\"tulip9!x"},
    ],
    ids=str,
)
def test_a_value_is_known_by_its_name_however_json_puts_them_together(value):
    assert "tulip9!x" not in json.dumps(walked(value, redacted))
    assert walked(["--verbose", "tulip9!x", {"name": "colour", "value": "tulip9!x"}], redacted)[1:] == [
        "tulip9!x",
        {"name": "colour", "value": "tulip9!x"},
    ]


def test_a_password_in_an_address_may_hold_the_sign_that_ends_it():
    assert "tulip" not in redacted("postgres://u:p@sstulip9x@db.example.org/x?mail=a@b.org")
    assert "a@b.org" in redacted("postgres://u:p@sstulip9x@db.example.org/x?mail=a@b.org")


def test_a_value_nested_a_thousand_deep_is_walked():
    value: object = TOKEN
    for _ in range(5_000):
        value = [value]
    shown = walked(value, redacted)
    for _ in range(5_000):
        shown = shown[0]
    assert "[redacted github-token" in shown


def test_names_of_people_are_the_same_pseudonym_all_over():
    names = user_names(["/home/ada/garden", "-Users-ada-work"])
    redaction = Redaction([Personal(names=names, words=["Lovelace"])], key=b"k")
    shown = redaction.text(
        "cd /home/ada/garden && ls -l # ada ada staff, lovelace; C:\\Users\\ada\\x; -home-ada-garden"
    )
    tag = redaction.tag("ada")
    assert shown.count(f"user-{tag}") == 5
    assert "/home/user-" in shown
    assert "ada " not in shown
    assert "lovelace" not in shown.lower()


def test_addresses_are_hidden_and_what_everybody_has_stays():
    redaction = Redaction([Personal()], key=b"k")
    shown = redaction.text(
        "mail ada@lovelace.org from 10.1.2.3 or 2a02:8109:aa00:1::5, box.lan; 127.0.0.1, git@github.com, v1.2.3"
    )
    assert "lovelace" not in shown
    assert "10.1.2.3" not in shown
    assert "2a02" not in shown
    assert "box.lan" not in shown
    assert "127.0.0.1" in shown
    assert "git@github.com" in shown
    assert "v1.2.3" in shown


@pytest.mark.parametrize(
    "text",
    ["Jörg Ämter", "J\u006f\u0308rg A\u0308mter", r"J\u00f6rg \u00c4mter", "J%C3%B6rg%20%c3%84mter", "jörg\n  ämter"],
)
def test_words_of_ones_own_are_hidden_however_they_are_written(text):
    assert Redaction([Personal(words=["Jörg Ämter"])], key=b"k").text(f"by {text}.").startswith("by word-")


def test_addresses_with_letters_of_any_language_are_hidden_whole():
    shown = Redaction([Personal()], key=b"k").text("from jörg.müller@gärtner.de to Ada")
    assert shown.startswith("from mail-")
    assert "jörg" not in shown
    assert "gärtner" not in shown


def test_what_was_redacted_already_is_no_secret_and_hides_none():
    redaction = Redaction([Secrets()], key=b"k")
    once = redaction.text("Cookie: sessionid=abc123def456; theme=dark")
    assert redaction.text(f"{once}: x") == f"{once}: x"
    assert "hush4you9" not in redaction.text("Cookie: sessionid=[redactedhush4you9; a=b")


def test_a_secret_in_what_looks_like_a_mail_address_is_hidden_where_it_stands_alone_too():
    redaction = Redaction([Secrets(), Personal()])
    redaction.text("DATABASE_URL=postgres://billing:Tulip77!x@db.example.de/x")
    assert redaction.values() == {"Tulip77!x": "url-password"}


def test_what_stands_for_something_hidden_is_no_secret_when_it_is_looked_at_again():
    redaction = Redaction([Secrets(), Personal()])
    once = redaction.text("proxy http://mo:lind4711x@proxy.example.de:3128 of /home/ada")
    known = redaction.values()
    assert redaction.text(f'password: "{once}"') == f'password: "{once}"'
    assert redaction.values() == known
    assert Redaction([Secrets()]).text("DB_PASSWORD=user-1a2b") != "DB_PASSWORD=user-1a2b"


def test_a_text_is_looked_at_once_and_once_more_by_those_who_came_later():
    class Counting:
        name, version = "counting", "1"

        def __init__(self, word):
            self.word, self.asked = word, 0

        def spans(self, text):
            self.asked += 1
            at = text.find(self.word)
            return [Span(start=at, end=at + len(self.word), kind=self.word)] if at >= 0 else []

    one, two = Counting("rose"), Counting("lily")
    text = "a rose and a lily " * 20
    first = Redaction([one])
    second = first.again(two)
    assert first.text(text) == first.text(text)
    assert "lily" in first.text(text)
    shown = second.text(text)
    assert shown.startswith("a [redacted rose ")
    assert " and a [redacted lily " in shown
    assert (one.asked, two.asked) == (1, 1)


@settings(deadline=None)
@given(st.lists(st.text("abcd", min_size=8, max_size=12), max_size=6), st.text("abcd", max_size=60), st.data())
def test_of_many_known_values_those_that_stand_in_a_text_are_found_wherever_they_begin(values, text, data):
    if values:
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(values)) + text[at:]
    assert set(Pieces(values).within(text)) == {value for value in values if value in text}


def test_the_beginning_of_a_known_value_is_hidden_where_a_text_was_cut_in_the_midst_of_a_colour():
    known = Known({TOKEN: "github-token"})
    for end in ("…", "\x1b…", "\x1b[0m\x1b[3", "\x1b[0m…"):
        shown = Redaction([known]).text(f"say \x1b[32m{TOKEN[:15]}{end}")
        assert TOKEN[:15] not in shown


def test_the_name_that_a_path_with_a_known_value_in_it_ends_in_is_hidden_too():
    redaction = Redaction([Known({"aB3/x9Kd72Lm0qWe": "token"})])
    shown = redaction.text("x9Kd72Lm0qWe is the project")
    assert shown == f"[redacted token {redaction.tag('aB3/x9Kd72Lm0qWe')}] is the project"


def test_a_token_that_begins_in_the_midst_of_another_and_ends_after_it_is_hidden_to_its_end():
    parts = [made("eyJ", 20) for _ in range(3)]
    assert redacted(f"{'.'.join(parts)}.{'s' * 30}").count("sss") == 0
    assert TOKEN[4:] not in redacted(f"npm_{'a' * 34}{TOKEN}")
