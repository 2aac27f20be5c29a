"""Agents of the MCP SDK for Python and of FastMCP at their defaults, which nobody registered, at the sample MCP server."""
import asyncio
import os
import sys
import tempfile
import threading
import webbrowser
from urllib.parse import parse_qs, urlsplit

_home = tempfile.TemporaryDirectory()
os.environ["FASTMCP_HOME"] = _home.name

from wire import REDIRECT_URI, ask, done, expect, step

SERVER = os.environ["MCP_SERVER"]
asked = []


def authorize(url):
    asked.append(parse_qs(urlsplit(url).query))
    return ask(authorize=url)["callback"]


def scopes_asked():
    return [request["scope"][0] for request in asked]


def text_of(result):
    return result.content[0].text


async def use(call):
    """The same tools with each: one, one that needs more, and one after the agent was removed."""
    me = text_of(await call("whoami"))
    expect("notes:read" in me, "what was granted", me)
    step("call", me=me)
    expect(text_of(await call("add_note", text="Milk")) == "Noted.", "a tool that needs more")
    expect("notes:write" in asked[-1]["scope"][0], "what was asked", scopes_asked())
    step("step-up", asked=scopes_asked())


def sdk(document=None):
    import httpx2
    from mcp import ClientSession
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.auth import OAuthClientMetadata
    from pydantic import AnyUrl

    class Storage:
        tokens = None
        client = None

        async def get_tokens(self):
            return self.tokens

        async def set_tokens(self, tokens):
            self.tokens = tokens

        async def get_client_info(self):
            return self.client

        async def set_client_info(self, client):
            self.client = client

    storage = Storage()
    callbacks = []

    async def redirect(url):
        callbacks.append(await asyncio.to_thread(authorize, url))

    async def callback():
        query = parse_qs(urlsplit(callbacks[-1]).query)
        return AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query["iss"][0]
        )

    provider = OAuthClientProvider(
        server_url=SERVER,
        client_metadata=OAuthClientMetadata(
            client_name="A Python agent",
            redirect_uris=[AnyUrl(REDIRECT_URI)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=storage,
        redirect_handler=redirect,
        callback_handler=callback,
        **({"client_metadata_url": document} if document else {}),
    )

    async def run():
        async with httpx2.AsyncClient(auth=provider, follow_redirects=True) as http:
            async with streamable_http_client(SERVER, http_client=http) as streams:
                async with ClientSession(streams[0], streams[1]) as session:
                    await session.initialize()
                    step("connect", client=storage.client.client_id)
                    await use(lambda name, **arguments: session.call_tool(name, arguments))
                    if document:
                        expect(storage.client.client_id == document, "the document", storage.client)

    asyncio.run(run())


def fastmcp():
    import httpx2
    from fastmcp import Client

    def open_browser(url):
        back = urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0])

        def visit():
            while True:
                try:
                    httpx2.get(f"{back.scheme}://{back.netloc}/")
                    break
                except httpx2.TransportError:
                    pass
            httpx2.get(authorize(url))

        threading.Thread(target=visit).start()

    webbrowser.open = open_browser

    async def run():
        async with Client(SERVER, auth="oauth") as client:
            step("connect")
            me = text_of(await client.call_tool("whoami"))
            expect("notes:read" in me, "what was granted", me)
            step("call", me=me, asked=scopes_asked())

    asyncio.run(run())


{"sdk": sdk, "document": lambda: sdk(os.environ["DOCUMENT"]), "fastmcp": fastmcp}[sys.argv[1]]()
done()
