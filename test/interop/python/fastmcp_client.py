"""FastMCP: its client, and its servers behind its OIDCProxy or with its verifiers of tokens."""
import asyncio
import os
import sys
import tempfile
import threading
import time
import webbrowser
from urllib.parse import parse_qs, urljoin, urlsplit

# It keeps its clients' registrations below this folder.
_home = tempfile.TemporaryDirectory()
os.environ["FASTMCP_HOME"] = _home.name

from wire import CLIENT_ID, CLIENT_SECRET, DISCOVERY, ISSUER, REDIRECT_URI, ask, done, expect, step

import httpx2
import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.server.auth.oidc_proxy import OIDCProxy
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

at = urlsplit(REDIRECT_URI)
ORIGIN = f"{at.scheme}://{at.netloc}"
MCP = ORIGIN + "/mcp"


def wait_for(url):
    while True:
        try:
            return httpx2.get(url)
        except httpx2.TransportError:
            time.sleep(0.05)


def serve(auth):
    mcp = FastMCP("A server", auth=auth)

    @mcp.tool
    def whoami() -> dict:
        claims = get_access_token().claims
        return {name: claims.get(name) for name in ["sub", "jti"]}

    config = uvicorn.Config(mcp.http_app(), host="localhost", port=at.port)
    threading.Thread(target=uvicorn.Server(config).run, daemon=True).start()
    wait_for(ORIGIN)


async def whoami(client):
    return (await client.call_tool("whoami")).data


def open_browser(url):
    back = parse_qs(urlsplit(url).query)["redirect_uri"][0]

    def visit():
        # The client begins to listen after it has opened the browser.
        wait_for(urljoin(back, "/"))
        # The proxy's own page asks first.
        page = ask(visit=url, submit={"action": "approve"})["page"]
        expect(page["status"] == 200 and page["url"].startswith(back), "back at the client", page)

    opened.append(url)
    threading.Thread(target=visit).start()


def proxy():
    """Clients register at the proxy, which is one application of the provider."""
    serve(
        OIDCProxy(
            config_url=DISCOVERY,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            base_url=ORIGIN,
            # The client is to refresh within the test.
            fastmcp_access_token_expiry_seconds=10,
        )
    )

    async def run():
        async with Client(MCP, auth="oauth") as client:
            first = await whoami(client)
            expect(first["sub"], "a person", first)
            step("sign-in")
            await asyncio.sleep(11)
            second = await whoami(client)
            expect(second["sub"] == first["sub"] and second["jti"] != first["jti"], "a new token", second)
            expect(len(opened) == 1, "one sign-in", opened)
            step("refresh")

    asyncio.run(run())


def with_token(verifier):
    serve(verifier)
    token = httpx2.post(
        ISSUER + "/token",
        auth=(CLIENT_ID, CLIENT_SECRET),
        data={"grant_type": "client_credentials"},
    ).json()["access_token"]

    async def run():
        async with Client(MCP, auth=token) as client:
            step("call", **await whoami(client))

    asyncio.run(run())
    refused = httpx2.post(MCP, json={}, headers={"authorization": f"Bearer {token}x"})
    expect(refused.status_code == 401, "another token", refused.text)
    step("refuse")


def jwt():
    jwks_uri = httpx2.get(DISCOVERY).json()["jwks_uri"]
    with_token(JWTVerifier(jwks_uri=jwks_uri, issuer=ISSUER, audience=ISSUER))


def introspection():
    with_token(
        IntrospectionTokenVerifier(
            introspection_url=ISSUER + "/introspect", client_id=CLIENT_ID, client_secret=CLIENT_SECRET
        )
    )


opened = []
webbrowser.open = open_browser
{"proxy": proxy, "jwt": jwt, "introspection": introspection}[sys.argv[1]]()
done()
