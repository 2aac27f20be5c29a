"""What the OpenAPI document cannot say, so that the rest of every generated request is held to it."""

import json

import schemathesis
from schemathesis.generation import GenerationMode


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


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Rules between parameters or members, which have no words in OpenAPI 3.1: what breaks one is changed, all else is sent."""
    if not is_positive(case):
        return
    # schemathesis 4.32.5 generates a tag and sends it without its quotes.
    tag = (case.headers or {}).get("If-Match")
    if tag is not None and tag != "*" and not tag.endswith('"'):
        case.headers["If-Match"] = f'"{tag}"'
    if case.query:
        follow_query_rules(case.query)
    if isinstance(case.body, dict) and case.path in ("/clients", "/clients/{client_id}"):
        follow_client_rules(case.body)
    if isinstance(case.body, dict) and case.path in ("/users", "/users/{id}", "/users/import"):
        follow_user_rules(case.body)


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


def follow_client_rules(body):
    # One says the other.
    if "token_endpoint_auth_method" in body:
        body.pop("client_type", None)
    # Only with private_key_jwt, and one of the two.
    if body.get("token_endpoint_auth_method") != "private_key_jwt":
        body.pop("token_endpoint_auth_signing_alg", None)
    if "jwks" in body:
        body.pop("jwks_uri", None)
    # Codes need somewhere to go.
    if not body.get("redirect_uris"):
        body["redirect_uris"] = ["https://app.example.com/callback"]


def follow_user_rules(body):
    # Verified is what there is.
    if not body.get("email"):
        body.pop("is_email_verified", None)
    if not body.get("phone_number"):
        body.pop("phone_number_verified", None)
    # Neither a repetition nor a common password.
    if "password" in body:
        body["password"] = "seven tall lanterns"
