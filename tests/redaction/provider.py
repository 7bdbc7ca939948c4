"""Secrets that say by their own shape what they are: kind and shape (see making.py)."""

import base64
import json
import textwrap

SHAPES = {
    # clouds and hosting
    "aws access key": "AKIA[A-Z2-7]{16}",
    "aws session key": "ASIA[A-Z2-7]{16}",
    "google api key": "AIza[<URL>]{35}",
    "google oauth secret": "GOCSPX-[<URL>]{28}",
    "google access token": "ya29.a0[<URL>]{160}",
    "digitalocean token": "dop_v1_[<HEX>]{64}",
    "heroku key": "HRKU-AA[<URL>]{58}",
    "netlify token": "nfp_[<WORD>]{36}",
    "fly token": "fm2_lJPE[<B64>]{120}",
    "alibaba key id": "LTAI5t[<WORD>]{18}",
    "tencent key id": "AKID[<WORD>]{32}",
    "scaleway key": "SCW[A-Z0-9]{17}",
    "supabase token": "sbp_[<HEX>]{40}",
    "supabase secret key": "sb_secret_[<URL>]{31}",
    "tailscale key": "tskey-auth-k[<WORD>]{11}CNTRL-[<WORD>]{32}",
    "cloudflare origin key": "v1.0-[<HEX>]{24}-[<HEX>]{146}",
    # hosts of code, CI
    "github personal token": "ghp_[<WORD>]{36}",
    "github oauth token": "gho_[<WORD>]{36}",
    "github server token": "ghs_[<WORD>]{36}",
    "github refresh token": "ghr_[<WORD>]{36}",
    "github fine token": "github_pat_11[A-Z0-9]{20}_[<WORD>]{59}",
    "gitlab token": "glpat-[<URL>]{20}",
    "gitlab runner token": "glrt-[<URL>]{20}",
    "gitlab deploy token": "gldt-[<URL>]{20}",
    "bitbucket app password": "ATBB[<WORD>]{24}[A-F0-9]{8}",
    "atlassian token": "ATATT3xFfGF0[<URL>]{172}=[A-F0-9]{8}",
    "circleci token": "CCIPAT_[<WORD>]{22}_[<HEX>]{40}",
    "buildkite token": "bkua_[<HEX>]{40}",
    "sourcegraph token": "sgp_[<HEX>]{16}_[<HEX>]{40}",
    # AI providers
    "anthropic key": "sk-ant-api03-[<URL>]{93}AA",
    "anthropic oauth token": "sk-ant-oat01-[<URL>]{93}AA",
    "openai key": "sk-[<WORD>]{20}T3BlbkFJ[<WORD>]{20}",
    "openai project key": "sk-proj-[<URL>]{74}T3BlbkFJ[<URL>]{74}",
    "openai service key": "sk-svcacct-[<URL>]{58}T3BlbkFJ[<URL>]{58}",
    "openrouter key": "sk-or-v1-[<HEX>]{64}",
    "deepseek key": "sk-[<HEX>]{32}",
    "huggingface token": "hf_[A-Za-z]{34}",
    "replicate token": "r8_[<WORD>]{37}",
    "groq key": "gsk_[<WORD>]{52}",
    "perplexity key": "pplx-[<WORD>]{48}",
    "xai key": "xai-[<WORD>]{80}",
    "nvidia key": "nvapi-[<URL>]{64}",
    "cerebras key": "csk-[a-z0-9]{48}",
    "together key": "tgp_v1_[<URL>]{43}",
    "pinecone key": "pcsk_[<WORD>]{6}_[<WORD>]{63}",
    "langsmith key": "lsv2_pt_[<HEX>]{32}_[<HEX>]{10}",
    "tavily key": "tvly-dev-[<WORD>]{32}",
    "elevenlabs key": "sk_[<HEX>]{48}",
    # payment, shops
    "stripe secret key": "sk_live_51[<WORD>]{97}",
    "stripe test key": "sk_test_[<WORD>]{24}",
    "stripe restricted key": "rk_live_[<WORD>]{24}",
    "stripe webhook secret": "whsec_[<WORD>]{32}",
    "square token": "EAAAE[<URL>]{59}",
    "square secret": "sq0csp-[<URL>]{43}",
    "shopify token": "shpat_[<HEX>]{32}",
    "shopify shared secret": "shpss_[<HEX>]{32}",
    "flutterwave key": "FLWSECK_TEST-[<HEX>]{32}-X",
    "razorpay key": "rzp_live_[<WORD>]{14}",
    "braintree token": "access_token$production$[a-z0-9]{16}$[<HEX>]{32}",
    # chat, mail
    "slack bot token": "xoxb-[1-9]{12}-[1-9]{13}-[<WORD>]{24}",
    "slack user token": "xoxp-[1-9]{12}-[1-9]{12}-[1-9]{13}-[<HEX>]{32}",
    "slack app token": "xapp-1-A0[A-Z0-9]{9}-[1-9]{13}-[<HEX>]{64}",
    "slack webhook": "https://hooks.slack.com/services/T0[A-Z0-9]{8}/B0[A-Z0-9]{9}/[<WORD>]{24}",
    "discord bot token": "MTA[<WORD>]{23}.G[<URL>]{5}.[<URL>]{38}",
    "discord webhook": "https://discord.com/api/webhooks/[1-9]{19}/[<URL>]{68}",
    "telegram bot token": "[1-9]{10}:AA[<URL>]{33}",
    "sendgrid key": "SG.[<URL>]{22}.[<URL>]{43}",
    "mailgun key": "key-[<HEX>]{32}",
    "mailchimp key": "[<HEX>]{32}-us14",
    "brevo key": "xkeysib-[<HEX>]{64}-[<WORD>]{16}",
    "resend key": "re_[<WORD>]{8}_[<WORD>]{24}",
    "twilio key": "SK[<HEX>]{32}",
    # registries, tools
    "npm token": "npm_[<WORD>]{36}",
    "pypi token": "pypi-AgEIcHlwaS5vcmc[<URL>]{150}",
    "rubygems key": "rubygems_[<HEX>]{48}",
    "crates token": "cio[<WORD>]{32}",
    "docker token": "dckr_pat_[<URL>]{27}",
    "nuget key": "oy2[a-z0-9]{43}",
    "linear key": "lin_api_[<WORD>]{40}",
    "notion token": "ntn_[<WORD>]{46}",
    "figma token": "figd_[<URL>]{40}",
    "airtable token": "pat[<WORD>]{14}.[<HEX>]{64}",
    "postman key": "PMAK-[<HEX>]{24}-[<HEX>]{34}",
    "mapbox secret": "sk.eyJ1Ijoi[<WORD>]{60}.[<URL>]{22}",
    "dropbox token": "sl.B[<URL>]{135}",
    "vault token": "hvs.CAESI[<URL>]{90}",
    "terraform token": "[<WORD>]{14}.atlasv1.[<URL>]{67}",
    "pulumi token": "pul-[<HEX>]{40}",
    "doppler token": "dp.pt.[<WORD>]{43}",
    "databricks token": "dapi[<HEX>]{32}",
    "planetscale password": "pscale_pw_[<URL>]{43}",
    "age key": "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    # watching
    "new relic key": "NRAK-[A-Z0-9]{27}",
    "grafana token": "glsa_[<WORD>]{32}_[a-f0-9]{8}",
    "grafana cloud token": "glc_eyJ[<WORD>]{100}",
    "sentry token": "sntryu_[<HEX>]{64}",
    "dynatrace token": "dt0c01.[A-Z0-9]{24}.[A-Z0-9]{64}",
}


def jwt(maker) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": maker.make("[0-9]{10}"), "name": "Mo Lind", "iat": 1717430400})
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, maker.make("[<URL>]{43}")])


def private_key(maker, what: str, lines: int) -> str:
    """The whole block; what counts as the secret is all of it."""
    body = "\n".join(textwrap.wrap(maker.make(f"[<B64>]{{{lines * 64 - 20}}}") + "==", 64))
    edge = "-" * 5
    return f"{edge}BEGIN {what}{edge}\n{body}\n{edge}END {what}{edge}"


KEYS = ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK")
