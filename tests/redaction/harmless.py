"""Text that holds no secret, by class: what a redactor must leave alone."""

import base64
import json
import sysconfig
import uuid
from pathlib import Path

from redaction.making import Maker

EXACT = ("ids", "hashes", "signatures", "lock files")  # none may be hidden here
SEED = "harmless 1"


def texts() -> dict[str, str]:
    """Class and text. The code is the standard library of the Python that runs this, at least 2 MB."""
    maker = Maker(SEED)
    made = {
        "ids": ids, "hashes": hashes, "signatures": signatures, "lock files": locks, "images": images,
        "minified": minified, "names in code": names, "translations": translations, "docs": docs,
        "fixtures": fixtures, "tables": tables, "prose": prose,
    }  # fmt: skip
    return {**{name: make(maker) for name, make in made.items()}, "code": standard_library()}


def standard_library(limit: int = 4_000_000) -> str:
    root = Path(sysconfig.get_path("stdlib"))
    found, size = [], 0
    for path in sorted(root.rglob("*.py")):
        if size < limit and not {"site-packages", "test", "tests", "idlelib", "__pycache__"} & set(path.parts):
            found.append(path.read_text("utf-8", "replace"))
            size += len(found[-1])
    return "\n".join(found)


def _uuid(maker) -> str:
    return str(uuid.UUID(maker.make("[<HEX>]{32}")))


def ids(maker) -> str:
    out = []
    for number in range(400):
        entry = {
            "parentUuid": _uuid(maker), "sessionId": _uuid(maker), "uuid": _uuid(maker),
            "requestId": maker.make("req_011C[<WORD>]{20}"), "timestamp": f"2026-03-04T10:{number % 60:02}:11.{number:03}Z",
            "message": {"id": maker.make("msg_01[<WORD>]{22}"), "usage": {"input_tokens": number, "output_tokens": 9}},
            "tool_use_id": maker.make("toolu_01[<WORD>]{22}"), "call_id": maker.make("call_[<WORD>]{24}"),
            "response_id": maker.make("resp_[<HEX>]{50}"), "item_id": maker.make("rs_[<HEX>]{48}"),
        }  # fmt: skip
        out.append(json.dumps(entry))
    out += [maker.make("i-0[<HEX>]{17} subnet-0[<HEX>]{17} ami-0[<HEX>]{17}") for _ in range(60)]
    out += [maker.make("arn:aws:iam::[0-9]{12}:role/deploy-[a-z]{8}") for _ in range(60)]
    out += [maker.make("trace_id=[<HEX>]{32} span_id=[<HEX>]{16} pod/web-[<HEX>]{10}-[a-z0-9]{5}") for _ in range(60)]
    out += [maker.make("cus_[<WORD>]{14} price_1[<WORD>]{23} 01J[A-Z0-9]{23}") for _ in range(60)]
    return "\n".join(out)


def hashes(maker) -> str:
    shapes = (
        "commit [<HEX>]{40}", "index [<HEX>]{7}..[<HEX>]{7} 100644", "[<HEX>]{64}  dist/app-1.[0-9]{1}.0.tar.gz",
        "[<HEX>]{32}  setup.exe", "[<HEX>]{128}  image.iso", "sha256:[<HEX>]{64}", "SHA256:[<B64>]{43}",
        'ETag: "[<HEX>]{32}"', "key: node-modules-[<HEX>]{64}", "Cache key: pip-linux-3.12-[<HEX>]{64}",
        "100644 blob [<HEX>]{40}\tsrc/token.py", "FROM python:3.12@sha256:[<HEX>]{64}", "CI build [<HEX>]{8} passed",
        "256 SHA256:[<B64>]{43} mo@laptop (ED25519)", "/assets/index-[<URL>]{8}.js  142 kB", "Merge: [<HEX>]{9} [<HEX>]{9}",
        "uses: actions/checkout@[<HEX>]{40}", '"checksum": "[<HEX>]{64}"', "md5sum=[<HEX>]{32}", "Change-Id: I[<HEX>]{40}",
    )  # fmt: skip
    return "\n".join(maker.make(shape) for _ in range(40) for shape in shapes)


def signatures(maker) -> str:
    out = []
    for size in range(200, 1800, 40):
        block = {
            "type": "thinking",
            "thinking": "Let me look at the parser first.",
            "signature": maker.make(f"EqoBCkgI[<B64>]{{{size}}}=="),
        }
        out.append(json.dumps({"message": {"content": [block]}}))
        out.append(json.dumps({"type": "reasoning", "encrypted_content": maker.make(f"gAAAAABo[<URL>]{{{size}}}=")}))
        out.append("gpgsig " + maker.make("iQIzBAABCAAdFiEE[<B64>]{48}"))
    return "\n".join(out)


def locks(maker) -> str:
    words = (
        "token",
        "secret",
        "password-prompt",
        "js-tokens",
        "keyv",
        "auth-header",
        "cookie",
        "left-pad",
        "jsonwebtoken",
    )
    out = []
    for number in range(220):
        word, version = words[number % len(words)], f"{number % 9}.{number % 7}.1"
        sha = maker.make("[<B64>]{86}==")
        out += [
            f'    "node_modules/{word}": {{\n      "version": "{version}",\n      "resolved": "https://registry.npmjs.org/{word}/-/{word}-{version}.tgz",\n      "integrity": "sha512-{sha}",\n      "license": "MIT"\n    }},',
            f'{word}@^{version}:\n  version "{version}"\n  resolved "https://registry.yarnpkg.com/{word}/-/{word}-{version}.tgz#{maker.make("[<HEX>]{40}")}"\n  integrity sha512-{sha}\n',
            f'[[package]]\nname = "{word}"\nversion = "{version}"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "{maker.make("[<HEX>]{64}")}"\n',
            f'    {{file = "{word}-{version}-py3-none-any.whl", hash = "sha256:{maker.make("[<HEX>]{64}")}"}},',
            f"github.com/acme/{word} v{version} h1:{maker.make('[<B64>]{43}=')}\ngithub.com/acme/{word} v{version}/go.mod h1:{maker.make('[<B64>]{43}=')}",
            f"  {word}@{version}:\n    resolution: {{integrity: sha512-{sha}}}\n    engines: {{node: '>=18'}}\n",
            f"{word}=={version} \\\n    --hash=sha256:{maker.make('[<HEX>]{64}')}",
        ]
    return "\n".join(out)


def images(maker) -> str:
    sizes = (400, 4000, 40_000)
    png = [base64.b64encode(b"\x89PNG\r\n" + maker.make(f"[ -~]{{{size}}}").encode()).decode() for size in sizes]
    return "\n".join(
        [
            *(f'<img src="data:image/png;base64,{one}">' for one in png),
            *(json.dumps({"type": "base64", "data": one}) for one in png),
        ]
    )


def minified(maker) -> str:
    parts = (
        "function n(e,t){return e.token=t,e.password&&r(e.password),e}", "var s={key:i.key,secret:void 0,tokens:[]};",
        "const{apiKey:a,token:o}=this.props;", "e.exports={tokenize:t,keyCode:13,authToken:u()};", "if(!t.secret)throw Error(l(152));",
        "t.setPassword(n.value),a.auth(r,o);", 'h.headers={Authorization:"Bearer "+e.token};', "let p=c.cookie.split(`; `),d=new URLSearchParams(l);",
    )  # fmt: skip
    return "".join(maker.pick(parts) + maker.make("[a-z]{1}.[a-z]{2}=[0-9]{3},") for _ in range(4000))


def names(maker) -> str:
    lines = (
        "password = getpass.getpass('Password: ')", "token = request.headers.get('X-Auth-Token')", "self.api_key = api_key or os.environ['API_KEY']",
        "const secret = await vault.read('secret/data/app')", "def check_password(raw_password: str, password_hash: str) -> bool:",
        "PASSWORD_RESET_TIMEOUT = 259200", "primary_key=True, foreign_key='users.id'", "for key, token in zip(keys, tokens):", "max_tokens: 4096,",
        'String password = System.getenv("DB_PASSWORD");', "if err := bcrypt.CompareHashAndPassword(hash, password); err != nil {", "access_token = response.json()['access_token']",
        "let token = tokens.next_token();", "password: { type: String, required: true, minlength: 8 }", "DB_PASSWORD=${DB_PASSWORD}", "export TOKEN=$(gh auth token)",
        "token: ${{ secrets.GITHUB_TOKEN }}", "password: !vault_lookup db", "- name: API_KEY\n  valueFrom:\n    secretKeyRef: {name: app, key: api-key}", "auth=HTTPBasicAuth(user, password)",
        "interface Props { onPasswordChange: (password: string) => void }", "token_type = TokenType.IDENTIFIER", "keyboard_shortcut = 'ctrl+shift+p'", "cache_key = f'{prefix}:{user.id}'",
        "SECRET_KEY = config('SECRET_KEY')", "password = models.CharField(max_length=128)", 'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")', "csrf_token: csrfToken,",
        "private readonly tokenService: TokenService;", 'curl -H "Authorization: Bearer $TOKEN" $URL', "mysql -u root -p$MYSQL_PASSWORD", "password=args.password, secret=args.secret",
        "input_tokens=1200 output_tokens=300 cache_read_input_tokens=20411", "{{ .Values.database.password | quote }}", "passwd=%s", '<input type="password" name="password" autocomplete="current-password">',
        "pwd = os.getcwd()", "PWD=/home/mo/project OLDPWD=/home/mo", "key = lambda item: item.secret_name", "assert token == expected_token, 'token mismatch'", "password_field = driver.find_element(By.ID, 'password')",
    )  # fmt: skip
    return "\n".join(maker.pick(lines) for _ in range(6000))


def translations(maker) -> str:
    words = {
        "login.password": "Passwort", "login.passwordHint": "Mindestens 12 Zeichen", "login.forgotPassword": "Passwort vergessen?",
        "settings.apiKey": "API-Schlüssel", "settings.token": "Zugriffstoken", "errors.password": "Mot de passe incorrect",
        "password": "Contraseña", "secret": "Geheimnis", "token.expired": "Your token has expired. Please sign in again.",
        "apiKey": "Clé de l'API", "password_confirmation": "Passwortbestätigung", "cookie": "Cookie-Einstellungen", "auth.key": "Sicherheitsschlüssel",
    }  # fmt: skip
    plain = "\n".join(
        json.dumps({key: words[key]}, ensure_ascii=bool(number % 2)) for number in range(40) for key in words
    )
    return plain + "\n" + "\n".join(f"{key}: {word}" for key, word in words.items())


def docs(maker) -> str:
    example_key = "AKIA" + "IOSFODNN7EXAMPLE"
    return "\n".join(
        (
            "Set `OPENAI_API_KEY=your-api-key-here` in your environment.", "export ANTHROPIC_API_KEY=<your key>", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            f"aws_access_key_id = {example_key}", "postgres://user:password@localhost:5432/db", "https://user:pass@example.com/", "password: changeme", "API_KEY=\nSECRET=\nTOKEN=\n",
            "API_KEY=...", 'api_key: "sk-..."', "Authorization: Bearer <token>", "Authorization: Bearer YOUR_ACCESS_TOKEN", "DB_PASSWORD=********", "password: [redacted]", "token=REPLACE_ME", "curl -u username:password https://api.example.com",
            "mysql -u root -p", "The password is stored as a bcrypt hash.", "A token is a string of letters.", "Your secret is safe with us.", "--password <PASSWORD>  The password", "--token TOKEN   API token (default: none)",
            "password: str | None = None", "| `password` | string | The password of the user |", "| token | required | see below |", "Enter your password:", "Passwords must match.", "password must be at least 8 characters",
            "The secret: write tests first.", "Key: value pairs", "secret: true", "token: null", "password: false", '"password": ""', '"token": null', "sk-ant-api03-xxxxxxxxxxxx", "xoxb-your-bot-token", "postgres://$USER:$PASSWORD@$HOST/db",
            "ssh-keygen -t ed25519 -C mo@example.com", "ssh-ed25519 " + maker.make("AAAAC3NzaC1lZDI1NTE5AAAAI[<B64>]{43} mo@laptop"), "-----BEGIN CERTIFICATE-----\n" + maker.make("MII[<B64>]{61}\n[<B64>]{64}") + "\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\n" + maker.make("MFkwEwYHKoZIzj0CAQYI[<B64>]{44}") + "\n-----END PUBLIC KEY-----", "password = ${env.DB_PASSWORD}", "token = var.github_token", "password = random_password.db.result", "Tokens: 12,408 in, 310 out",
            "See https://docs.example.com/tokens/create?scope=read for tokens.", "http://localhost:3000/reset-password?token=:token", "git@github.com:acme/app.git", "mailto:mo@example.com?subject=password", "pk_live_" + maker.make("[<WORD>]{24}"),
        )
    )  # fmt: skip


def fixtures(maker) -> str:
    lines = (
        'password="test"', "login('user', 'password')", 'token = "abc"', "assert parse('token') == Token('token')", "password='secret'", 'api_key="test-key"', 'api_key = "fake-api-key"', "secret = 'dummy'", "User(password='hunter2')",
        "postgres://postgres:postgres@localhost/test", "it('rejects a wrong password', async () => {", "expect(screen.getByLabelText('Password')).toBeVisible()", "--password=password", "cookie: session=abc", "client.login(username='mo', password='pw')",
    )  # fmt: skip
    return "\n".join(maker.pick(lines) for _ in range(1000))


def tables(maker) -> str:
    css = [maker.make(".[a-z]{8}__[a-z]{5}_[<WORD>]{5}{color:#[<HEX>]{6};margin:[0-9]{1}px}") for _ in range(500)]
    csv = [maker.make("[0-9]{5},[A-Z]{1}[a-z]{6},[0-9]{2}.[0-9]{4},[<HEX>]{8},2026-03-0[1-9]{1}") for _ in range(2000)]
    return "\n".join([*css, "id,name,token_count,key,day", *csv])


def prose(maker) -> str:
    words = (
        "the parser reads each line once and keeps the password field out of the token stream so that a key "
        "never meets a secret while we wait for tests to pass in the build"
    ).split()
    sentences = [
        " ".join(maker.pick(words) for _ in range(14)).capitalize() + maker.pick((". ", ": ", ".\n"))
        for _ in range(8000)
    ]
    return "".join(sentences)
