"""What the OpenAPI document cannot say, so that the rest of every generated request is held to it.

The document refuses nothing that is valid: where a pattern cannot be exact, a valid request gets a value that is certainly valid.
"""

import json
import os
import re
import unicodedata
from collections import Counter

import schemathesis
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import TestPhase


@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def newline_delimited(_context, value):
    """The document describes one line."""
    return f"{json.dumps(value)}\n".encode()


@schemathesis.deserializer("application/x-ndjson", "application/jsonl")
def first_line(_context, response):
    """The document describes one line, and requests have one."""
    return json.loads(response.content.split(b"\n", 1)[0])


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE


def is_sequence(case):
    return case.meta.phase.name == TestPhase.STATEFUL


# By the name of the path parameter, and for `id` by the first part of the path.
KNOWN_IDS = json.loads(os.environ.get("KNOWN_IDS", "{}"))
# What the rest of the requests needs is not deleted; sequences delete what they created.
KEPT = {"users", "clients", "groups", "resources"}
seen = Counter()


def use_known_ids(case):
    """Every second request is for an item that exists. In sequences the ids come from responses."""
    if is_sequence(case) or not case.path_parameters:
        return
    first, *rest = case.path.strip("/").split("/")
    if case.method == "DELETE" and len(rest) == 1 and first in KEPT:
        return
    seen[case.operation.label] += 1
    if seen[case.operation.label] % 2 == 0:
        return
    # No invented tag matches.
    if seen[case.operation.label] % 4 == 1 and "If-Match" in (case.headers or {}):
        case.headers["If-Match"] = "*"
    for name in case.path_parameters:
        known = KNOWN_IDS.get(first if name == "id" else name)
        if known is not None:
            case.path_parameters[name] = known
    if isinstance(case.body, dict) and "user_id" in case.body and "user_id" in KNOWN_IDS:
        case.body["user_id"] = KNOWN_IDS["user_id"]


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Rules between parameters or members, which have no words in OpenAPI 3.1: what breaks one is changed, all else is sent."""
    if not is_positive(case):
        return
    # schemathesis 4.32.5 generates a tag and sends it without its quotes.
    tag = (case.headers or {}).get("If-Match")
    if tag is not None and tag != "*" and not tag.endswith('"'):
        case.headers["If-Match"] = f'"{tag}"'
    # A key that was used before gets the response of then, and what it created may be deleted since.
    if is_sequence(case) and "Idempotency-Key" in (case.headers or {}):
        seen["keys"] += 1
        case.headers["Idempotency-Key"] = f"sequence-{seen['keys']}"
    use_known_ids(case)
    if case.query:
        follow_query_rules(case.query)
    if isinstance(case.body, dict):
        follow_body_rules(case.path, case.method, case.body, is_sequence(case))


def follow_body_rules(path, method, body, in_sequence):
    if path in ("/clients", "/clients/{client_id}"):
        follow_client_rules(body, method)
    if path in ("/users", "/users/{id}", "/users/import"):
        follow_user_rules(body)
    if path in ("/resources", "/resources/{id}", "/resources/import"):
        follow_api_rules(body)
    # ADMIN_TOKEN belongs to no user.
    if path == "/api-keys" and body.get("owner") == "self":
        body.pop("owner")
    if path == "/settings":
        follow_settings_rules(body)
    if path == "/settings/mail-server":
        # What is a host, and that a user has a password, is in no schema.
        body.update(host="mail.example.com", user="robot", password="open sesame")
    if path == "/settings/import":
        follow_settings_rules(body["values"])
    # Requests before this one may have deleted what it names.
    if path == "/invitations":
        body.pop("client_id", None)
    if body.get("allowed_groups"):
        body["allowed_groups"] = [] if in_sequence else [KNOWN_IDS["groups"]]


def follow_query_rules(query):
    # Signed by the server and bound to one list: nothing that is invented is valid.
    query.pop("cursor", None)
    # A filter that reads two groups of rows merges them, and reaches no further than one page by offset.
    if {"is_locked", "is_active"} & query.keys() or query.get("class") == "all":
        query.pop("offset", None)
    # Access tokens are found by what they belong to.
    kind = query.get("kind")
    if kind == "client_credentials":
        query.setdefault("client_id", "none")
    elif kind == "access_token":
        query.setdefault("user_id", "none")


# RFC 7517 appendix A.1.
KEY = {
    "kty": "EC",
    "crv": "P-256",
    "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
}


def always_uses_pkce(body):
    is_public = body.get("token_endpoint_auth_method") == "none" or body.get("client_type") == "public"
    is_native = body.get("application_type") == "native"
    return is_public or is_native or bool(body.get("web_origins")) or "admin" in (body.get("scope") or "")


# They need the setting legacy_profiles, which is off.
OF_LEGACY = [
    "profile",
    "request_uris",
    "request_object_signing_alg",
    "require_signed_request_object",
    "frontchannel_logout_uri",
    "frontchannel_logout_session_required",
]


def follow_client_rules(body, method):
    for name in OF_LEGACY:
        body.pop(name, None)
    # Scopes of the account API are for first-party applications.
    if body.get("scope") and body.get("skip_consent") is not True:
        left = [word for word in body["scope"].split() if not word.startswith("account")]
        body["scope"] = " ".join(left) or "openid"
    # The identifier of an API that exists.
    if body.get("default_resource") is not None:
        body["default_resource"] = None
    # PATCH keeps all that is not given, PUT keeps what is not metadata.
    is_patch = method == "PATCH"
    # One says the other.
    if "token_endpoint_auth_method" in body:
        body.pop("client_type", None)
    # Only with private_key_jwt, which needs keys: one of the two.
    if body.get("token_endpoint_auth_method") != "private_key_jwt":
        body.pop("token_endpoint_auth_signing_alg", None)
        if is_patch and "token_endpoint_auth_method" in body:
            body["token_endpoint_auth_signing_alg"] = None
    elif body.get("jwks_uri") is None:
        body["jwks"] = body.get("jwks") or {"keys": [KEY]}
    if body.get("jwks") is not None:
        body["jwks"] = {"keys": [KEY]}
        body.pop("jwks_uri", None)
        if is_patch:
            body["jwks_uri"] = None
    elif is_patch and body.get("jwks_uri") is not None:
        body["jwks"] = None
    # Codes need somewhere to go.
    if not body.get("redirect_uris"):
        body["redirect_uris"] = ["https://app.example.com/callback"]
    # RFC 7591 §2.1: the two must match; RFC 6749 §4.4: only clients that authenticate act for themselves.
    grants = body.get("grant_types")
    if grants is not None:
        body["grant_types"] = [grant for grant in grants if grant != "client_credentials"]
        body["response_types"] = ["code"] if "authorization_code" in grants else []
    elif "response_types" in body:
        body["response_types"] = ["code"]
    # As browsers write them.
    if body.get("web_origins"):
        body["web_origins"] = ["https://app.example.com"]
    if body.get("require_pkce") is False and (method != "POST" or always_uses_pkce(body)):
        body.pop("require_pkce")


def follow_user_rules(body):
    # Verified is what there is.
    if not body.get("email"):
        body.pop("is_email_verified", None)
    if not body.get("phone_number"):
        body.pop("phone_number_verified", None)
    # None before the first one, and here they can only be removed.
    body.pop("other_emails", None)
    # Neither a repetition nor a common password.
    if "password" in body:
        body["password"] = "seven tall lanterns"
    # With an @ it is an e-mail address, and it is stored in the form NFKC.
    if "username" in body:
        name = body["username"].replace("@", ".")
        body["username"] = name if unicodedata.is_normalized("NFKC", name) else "somebody"
    # Time zones are a list, and a URL has a grammar.
    if body.get("zoneinfo"):
        body["zoneinfo"] = "Europe/Zurich"
    for name in ("profile", "picture", "website"):
        if body.get(name) and not re.fullmatch(r"(?i)https?://[a-z][a-z0-9-]*[a-z](?:[/?#][!-~]*)?", body[name]):
            body[name] = "https://example.com/"
    # No month has 31 days twice.
    if body.get("birthdate"):
        body["birthdate"] = re.sub(r"-(?:29|30|31)$", "-28", body["birthdate"])


def follow_api_rules(body):
    # Applications, groups and scopes that exist, each name once.
    if "clients" in body:
        body["clients"] = "all"
    if "machine_grants" in body:
        body["machine_grants"] = {}
    if "scopes" in body:
        named = {scope["name"]: {**scope, "groups": []} for scope in body["scopes"]}
        body["scopes"] = list(named.values())
        # Without invisible characters, which are of many kinds.
        for scope in body["scopes"]:
            scope["description"] = "See " + re.sub(r"[^ -~]", "x", scope["description"][:290])


def follow_settings_rules(values):
    if isinstance(values.get("items"), list):
        # Each once; what only describes a setting cannot be changed, and the value must be of its type.
        known = {item["key"]: {"key": item["key"], "value": item["value"]} for item in values["items"]}
        values["items"] = [item for item in known.values() if item["key"] == "smtp_url" and item["value"] is None]
        return
    # Administrators need a passkey first.
    if values.get("auth_mode") == "passkey_only":
        values.pop("auth_mode")
    for longer in ("refresh_token_absolute_seconds", "session_absolute_seconds"):
        values.pop(longer, None)
        values.pop(longer.replace("absolute", "idle"), None)
    for name, value in values.items():
        if not value:
            continue
        if name == "smtp_url":
            values[name] = "smtp://mail.example.com:25"
        elif name.endswith("_url") and not re.fullmatch(r"(?i)https?://[a-z][a-z0-9-]*[a-z]", value):
            values[name] = "https://example.com/"
        elif name == "passkey_extra_origins":
            values[name] = "https://example.net"
        elif name == "realm_aliases":
            values[name] = "main other"
        elif name.endswith("_email_domains"):
            values[name] = "example.com *.example.org"
