"""Secrets that are known by their shape: data only. Sources are the providers' own pages about the form of their keys.

Each rule: kind, literal beginnings (one of them must be in the text: a quick look before the pattern), and a pattern for
what follows the beginning. Nobody asks what stands left of a distinctive beginning, since anything may touch it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_W = "[A-Za-z0-9_-]"
_A = "[A-Za-z0-9]"
_H = "[0-9a-fA-F]"
_UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A shape. ``begins``: literals; ``rest``: what follows one of them, from which on all is hidden."""

    kind: str
    begins: tuple[str, ...]
    rest: re.Pattern[str]

    def alone(self, begin: str) -> bool:
        """Whether nothing of a word may stand before: the beginning is short, or looks like any other base64."""
        return len(begin) < 4 or (begin.isalnum() and begin not in _TELLING)


_TELLING = {"AKIA", "ASIA", "ABIA", "ACCA", "AIza", "GR1348941", "ATATT3", "ATCTT3", "FLWSECK"}

_SHAPES = rf"""
github-token         ghp_ gho_ ghu_ ghs_ ghr_                       {_A}{{30,255}}
github-token         github_pat_                                    [A-Za-z0-9_]{{22,255}}
gitlab-token         glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- glwt-  {_W}{{18,}}(?:\.[A-Za-z0-9_.-]+)?
gitlab-token         GR1348941                                      {_W}{{18,}}
bitbucket-token      ATBB                                           {_A}{{28,}}
atlassian-token      ATATT3 ATCTT3                                  [A-Za-z0-9_=-]{{40,}}
anthropic-key        sk-ant-                                        {_W}{{16,}}
openai-key           sk-proj- sk-svcacct- sk-admin- sk-None-        {_W}{{16,}}
openrouter-key       sk-or-                                         {_W}{{20,}}
langfuse-key         sk-lf-                                         {_UUID}
model-key            sk-                                            (?=[A-Za-z-]{{0,60}}[0-9]){_A}{{20}}{_W}*
groq-key             gsk_                                           {_A}{{30,}}
xai-key              xai-                                           {_A}{{40,}}
perplexity-key       pplx-                                          {_A}{{32,}}
cerebras-key         csk-                                           [a-z0-9]{{32,}}
fireworks-key        fw_                                            (?=[A-Za-z]*[0-9]){_A}{{20,}}
replicate-token      r8_                                            {_A}{{32,}}
huggingface-token    hf_                                            {_A}{{30,}}
huggingface-token    api_org_                                       {_A}{{30,}}
langsmith-key        lsv2_                                          (?:pt|sk)_{_H}{{32}}_{_H}{{10}}
nvidia-key           nvapi-                                         {_W}{{40,}}
jina-key             jina_                                          {_A}{{32,}}
voyage-key           pa-                                            (?=[A-Za-z]*[0-9]){_W}{{40,}}
tavily-key           tvly-                                          [A-Za-z0-9-]{{20,}}
firecrawl-key        fc-                                            {_H}{{32}}
pinecone-key         pcsk_                                          [A-Za-z0-9_]{{40,}}
e2b-key              e2b_                                           {_H}{{40}}
elevenlabs-key       sk_                                            {_H}{{40,}}
deepgram-key         dg_                                            {_A}{{36,}}
google-api-key       AIza                                           {_W}{{35}}(?![A-Za-z0-9_-])
google-oauth-token   ya29.                                          [A-Za-z0-9_.-]{{20,}}
google-oauth-secret  GOCSPX-                                        {_W}{{24,}}
google-refresh-token 1//0                                           {_W}{{40,}}
firebase-key         AAAA                                           {_W}{{7}}:APA91{_W}{{100,}}
aws-access-key       AKIA ASIA ABIA ACCA                            [A-Z0-9]{{16}}(?![A-Za-z0-9])
aws-session-token    IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz         [A-Za-z0-9/+=]{{60,}}
aws-bedrock-key      ABSKQmVkcm9ja                                  [A-Za-z0-9+/=]{{60,}}
azure-storage-key    AccountKey=                                    [A-Za-z0-9/+]{{40,}}={{0,2}}
azure-access-key     SharedAccessKey=                               [A-Za-z0-9/+]{{30,}}={{0,2}}
alibaba-key          LTAI                                           {_A}{{16,24}}(?![A-Za-z0-9])
tencent-key          AKID                                           {_A}{{32}}(?![A-Za-z0-9])
yandex-key           AQVN                                           {_W}{{35,}}
digitalocean-token   dop_v1_ doo_v1_ dor_v1_ dot_v1_                {_H}{{60,}}
heroku-key           HRKU-                                          {_W}{{30,}}
fly-token            fo1_                                           {_W}{{40,}}
fly-token            fm1r_ fm1a_ fm2_                               [A-Za-z0-9+/=,_-]{{50,}}
netlify-token        nfp_ nfc_ nfo_ nfu_                            {_A}{{36,}}
vercel-token         vcp_ vck_ vci_ vca_ vcr_ vercel_blob_rw_       [A-Za-z0-9_]{{24,}}
render-key           rnd_                                           {_A}{{24,}}
cloudflare-token     cfut_ cfat_ cfk_                               {_A}{{30,}}
cloudflare-key       v1.0-                                          {_H}{{24}}-{_H}{{100,}}
supabase-key         sbp_                                           (?:v0_)?{_H}{{40}}
supabase-key         sb_secret_                                     {_W}{{20,}}
planetscale-token    pscale_tkn_ pscale_pw_ pscale_oauth_           [A-Za-z0-9_.=-]{{30,}}
neon-key             napi_                                          [a-z0-9]{{40,}}
databricks-token     dapi                                           {_H}{{32}}(?:-\d)?
npm-token            npm_                                           {_A}{{36}}
pypi-token           pypi-AgE                                       {_W}{{40,}}
rubygems-key         rubygems_                                      {_H}{{48}}
crates-token         cio                                            {_A}{{32}}(?![A-Za-z0-9])
nuget-key            oy2                                            [a-z0-9]{{43}}(?![A-Za-z0-9])
docker-token         dckr_pat_ dckr_oat_                            {_W}{{20,}}
artifactory-token    AKCp                                           {_A}{{60,}}
artifactory-token    cmVmdGtu                                       {_A}{{50,}}
clojars-token        CLOJARS_                                       [a-z0-9]{{60}}
slack-token          xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-  (?=[A-Za-z-]*[0-9])[A-Za-z0-9%/+-]{{10,}}={{0,2}}
slack-token          xoxe.xox                                       [bp]-{_W}{{20,}}
slack-token          xapp-                                          \d-[A-Za-z0-9]+-\d+-{_A}{{20,}}
slack-webhook        https://hooks.slack.com/ hooks.slack.com/                               (?:services|workflows|triggers)/[A-Za-z0-9/_+-]{{20,}}
discord-webhook      https://discord.com/api/webhooks/ discord.com/api/webhooks/ discordapp.com/api/webhooks/   \d{{10,}}/{_W}{{40,}}
teams-webhook        webhook.office.com/webhookb2/                  [A-Za-z0-9@/-]{{60,}}
stripe-key           sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_   {_A}{{10,}}(?:_{_A}+)*
webhook-secret       whsec_                                         [A-Za-z0-9+/]{{20,}}={{0,2}}
square-token         sq0atp- sq0csp- sq0idp-                        {_W}{{20,}}
square-token         EAAA                                           {_W}{{56,}}
facebook-token       EAAC EAAB EAAD EAAE EAAG EAAJ                  {_A}{{60,}}
braintree-token      access_token$                                  (?:production|sandbox)\$[0-9a-z]{{16}}\${_H}{{32}}
razorpay-key         rzp_live_ rzp_test_                            {_A}{{14,}}
plaid-token          access-sandbox- access-production- access-development-   {_UUID}
shopify-token        shpat_ shpca_ shppa_ shpss_ shptka_            {_H}{{32}}
flutterwave-key      FLWSECK                                        (?:_TEST)?-{_A}{{32,}}(?:-X)?
duffel-token         duffel_live_ duffel_test_                      {_W}{{40,}}
shippo-token         shippo_live_ shippo_test_                      {_H}{{40}}
easypost-key         EZAK EZTK                                      {_A}{{50,}}
sendgrid-key         SG.                                            {_W}{{16,32}}\.{_W}{{32,64}}
mailgun-key          key-                                           {_H}{{32}}(?![A-Za-z0-9])
brevo-key            xkeysib- xsmtpsib-                             {_H}{{64}}-{_A}{{16}}
resend-key           re_                                            (?=[A-Za-z_]*[0-9]){_A}{{8}}_{_A}{{16,}}
twilio-key           SK                                             {_H}{{32}}(?![A-Za-z0-9])
linear-key           lin_api_ lin_oauth_                            {_A}{{30,}}
notion-token         ntn_                                           {_A}{{40,}}
notion-token         secret_                                        (?=[A-Za-z]*[0-9]){_A}{{40,}}
figma-token          figd_ figu_ figo_                              {_W}{{36,}}
airtable-token       pat                                            {_A}{{14}}\.{_H}{{64}}
asana-token          1/ 2/                                          \d{{15,17}}(?:/\d{{15,17}})?:{_H}{{32}}
postman-key          PMAK-                                          {_H}{{24}}-{_H}{{34}}
dropbox-token        sl.                                            (?:u\.)?{_W}{{100,}}
clickup-token        pk_                                            \d{{6,}}_[A-Z0-9]{{32}}
typeform-token       tfp_                                           [A-Za-z0-9_.=-]{{40,}}
hubspot-token        pat-na1- pat-na2- pat-eu1- pat-ap1-            {_UUID}
zapier-webhook       hooks.zapier.com/hooks/catch/                  [A-Za-z0-9/]{{12,}}
new-relic-key        NRAK- NRRA- NRSP- NRIQ- NRJS- NRII-            {_W}{{19,}}
sentry-token         sntrys_ sntryu_ sntrya_ sntryr_                [A-Za-z0-9+/=_-]{{40,}}
grafana-token        glc_                                           [A-Za-z0-9+/]{{32,}}={{0,2}}
grafana-token        glsa_                                          {_A}{{32}}_{_H}{{8}}
posthog-key          phx_                                           {_A}{{36,}}
launchdarkly-key     sdk- mob- api-                                 {_UUID}
honeycomb-key        hcaik_ hcbik_ hcxik_ hcamk_                    [a-z0-9]{{50,}}
dynatrace-token      dt0                                            [a-z]\d{{2}}\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}
vault-token          hvs. hvb. hvr.                                 {_W}{{20,}}
pulumi-token         pul-                                           {_H}{{40}}
doppler-token        dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.  [A-Za-z0-9_.-]{{36,}}
onepassword-token    ops_eyJ                                        [A-Za-z0-9+/=_-]{{80,}}
onepassword-key      A3-                                            [A-Z0-9]{{6}}-[A-Z0-9]{{5,11}}(?:-[A-Z0-9]{{5}}){{3,4}}
age-key              AGE-SECRET-KEY-1                               [0-9A-Z]{{50,}}
tailscale-key        tskey-                                         (?:auth|api|client|scim|webhook)-[A-Za-z0-9-]{{16,}}
circleci-token       CCIPAT_ CCIPRJ_                                {_A}{{18,}}_{_H}{{40}}
buildkite-token      bkua_ bkaj_ bkct_                              {_A}{{36,}}
sonar-token          sqp_ squ_ sqa_                                 {_H}{{40}}
sourcegraph-token    sgp_ slk_                                      (?:{_H}{{16}}_)?{_H}{{40,}}
sourcegraph-token    sgd_                                           {_H}{{40,}}
openshift-token      sha256~                                        {_W}{{43}}
prefect-key          pnu_ pnb_                                      {_A}{{36}}
readme-key           rdme_                                          [a-z0-9]{{60,}}
contentful-token     CFPAT-                                         {_W}{{40,}}
deno-token           ddp_ ddo_                                      {_A}{{36}}
harness-token        pat. sat.                                      {_W}{{22}}\.{_H}{{24}}\.{_A}{{20}}
octopus-key          API-                                           [A-Z0-9]{{25,}}
scaleway-key         SCW                                            [A-Z0-9]{{17}}(?![A-Za-z0-9])
adobe-secret         p8e-                                           {_A}{{32}}
mapbox-token         sk.eyJ                                         {_W}{{20,}}\.{_W}{{16,}}
cursor-key           key_                                           {_H}{{60,}}
sumo-or-telnyx-key   KEY0                                           {_H}{{16,}}_{_A}{{16,}}
prisma-key           prisma+postgres://accelerate.prisma-data.net/?api_key=   {_W}{{20,}}
json-web-token       eyJ                                            {_W}{{6,}}\.eyJ{_W}{{6,}}(?:\.{_W}*)?
json-web-token       eyJ                                            {_W}{{10,}}\.{_W}*\.{_W}{{10,}}\.{_W}{{10,}}\.{_W}{{10,}}
"""


def _made() -> Iterator[Rule]:
    for line in _SHAPES.strip().splitlines():
        kind, *begins, rest = line.split()
        yield Rule(kind=kind, begins=tuple(begins), rest=re.compile(rest))


RULES: tuple[Rule, ...] = tuple(_made())


def candidates(text: str) -> Iterator[tuple[Rule, str]]:
    """The rules and beginnings that may stand in ``text``: a quick look at how the words before ``_`` ``-`` ``.`` ``/`` end."""
    for mark, by_end in _BY_END.items():
        if mark in text:
            for end in {part[-2:] for part in text.split(mark)} & by_end.keys():
                for rule, begin in by_end[end]:
                    if begin in text:
                        yield rule, begin
    for rule, begin in _PLAIN:
        if begin in text:
            yield rule, begin


_BY_END: dict[str, dict[str, list[tuple[Rule, str]]]] = {}
_PLAIN: list[tuple[Rule, str]] = []
for _rule in RULES:
    for _begin in _rule.begins:
        if _begin[-1] in "_-./":
            _BY_END.setdefault(_begin[-1], {}).setdefault(_begin[-3:-1], []).append((_rule, _begin))
        else:
            _PLAIN.append((_rule, _begin))

ANYWHERE: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("terraform-token", ".atlasv1.", re.compile(rf"{_A}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{40,}}")),
    ("azure-client-secret", "8Q~", re.compile(r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}")),
    ("azure-client-secret", "7Q~", re.compile(r"[A-Za-z0-9_~.-]{3}7Q~[A-Za-z0-9_~.-]{31,34}")),
    ("new-relic-key", "NRAL", re.compile(rf"{_H}{{36}}NRAL")),
    ("mailchimp-key", "-us", re.compile(rf"(?<![0-9A-Za-z]){_H}{{32}}-us\d{{1,2}}(?![0-9A-Za-z])")),
    ("telegram-token", ":AA", re.compile(rf"(?<!\d)\d{{8,10}}:AA{_W}{{32,34}}(?![A-Za-z0-9_-])")),
    ("maxmind-key", "_mmk", re.compile(rf"{_A}{{6}}_{_A}{{29}}_mmk")),
    ("discord-token", ".", re.compile(rf"(?<![A-Za-z0-9_-])[MNO]{_A}{{23,25}}\.{_W}{{6}}\.{_W}{{27,40}}(?![A-Za-z0-9_-])")),
    ("azure-key", "AzSe", re.compile(r"[A-Za-z0-9/+]{20,}AzSe[A-Za-z0-9/+]{4,}={0,2}")),
    ("azure-devops-token", "AZDO", re.compile(rf"{_A}{{76}}AZDO{_A}{{4}}")),
    ("azure-key", "AAAC", re.compile(rf"(?<![A-Za-z0-9/+]){_A}{{42,76}}AAAC[A-Z0-9]{_A}{{4,8}}(?![A-Za-z0-9/+])")),
    ("password-hash", "$", re.compile(r"\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|(?:1|5|6|7|y|apr1)\$[^\s$:\"']{1,64}\$(?:[^\s$:\"']{1,64}\$)?[./A-Za-z0-9]{20,}|argon2id?\$v=\d+\$[^\s$\"']+\$[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+)")),
)  # fmt: skip
"""Shapes with their distinctive part inside: kind, that part, the whole pattern."""


def beginnings(text: str) -> set[str]:
    """What of ``text``, words one after another, may be the beginning or the middle of a token."""
    whole = {found[0] for _kind, inside, pattern in ANYWHERE if inside in text for found in pattern.finditer(text)}
    return whole | {begin for _rule, begin in candidates(text)}
