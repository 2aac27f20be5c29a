"""Speaks with test/interop/support/client.ts."""
import json
import os
import sys

ISSUER = os.environ["ISSUER"]
BASE_URL = os.environ["BASE_URL"]
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
REDIRECT_URI = os.environ["REDIRECT_URI"]
DISCOVERY = ISSUER + "/.well-known/openid-configuration"

# Both libraries refuse plain http, on loopback too, unless they are told.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

# Frameworks print what they like; the protocol's lines keep a stream of their own.
_lines = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def _write(message):
    _lines.write(json.dumps(message, default=str) + "\n")
    _lines.flush()


def ask(**message):
    """Returns the answer of the browser beside this program."""
    _write(message)
    return json.loads(sys.stdin.readline())


def step(name, **facts):
    _write({"step": name, "ok": True, **facts})


def expect(is_right, what, seen=None):
    if not is_right:
        raise AssertionError(f"{what}: {str(seen)[:3000]}")


def done():
    _write({"done": True})
    # Servers in threads do not keep this open.
    sys.stderr.flush()
    os._exit(0)
