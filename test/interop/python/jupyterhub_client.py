"""JupyterHub with oauthenticator's GenericOAuthenticator: the hub itself, without the proxy before it."""
import os
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlsplit

import requests
from wire import CLIENT_ID, CLIENT_SECRET, ISSUER, REDIRECT_URI, ask, done, expect, step

HOME = "{0.scheme}://{0.netloc}".format(urlsplit(REDIRECT_URI))
PORT = urlsplit(REDIRECT_URI).port
folder = tempfile.mkdtemp()
config = os.path.join(folder, "jupyterhub_config.py")
with open(config, "w", encoding="utf-8") as file:
    file.write(f"""
from jupyterhub.proxy import Proxy

class NoProxy(Proxy):
    should_start = False
    async def add_route(self, routespec, target, data):
        pass
    async def delete_route(self, routespec):
        pass
    async def get_all_routes(self):
        return {{}}

c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.hub_port = {PORT}
c.JupyterHub.default_url = "/hub/home"
c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.client_id = "{CLIENT_ID}"
c.GenericOAuthenticator.client_secret = "{CLIENT_SECRET}"
c.GenericOAuthenticator.oauth_callback_url = "{REDIRECT_URI}"
c.GenericOAuthenticator.authorize_url = "{ISSUER}/authorize"
c.GenericOAuthenticator.token_url = "{ISSUER}/token"
c.GenericOAuthenticator.userdata_url = "{ISSUER}/userinfo"
c.GenericOAuthenticator.scope = ["openid", "profile", "email"]
c.GenericOAuthenticator.username_claim = "preferred_username"
c.GenericOAuthenticator.allow_all = True
""")
server = subprocess.Popen(
    [sys.executable, "-m", "jupyterhub", "-f", config], cwd=folder, stdout=sys.stderr
)
try:
    for _ in range(300):
        try:
            requests.get(f"{HOME}/hub/health", timeout=5)
            break
        except requests.ConnectionError:
            expect(server.poll() is None, "the hub runs")
            time.sleep(0.2)
    page = ask(visit=f"{HOME}/hub/oauth_login?next=/hub/home")["page"]
    expect(page["status"] == 200 and "grace" in page["body"], "signed in at the hub", page)
    step("sign-in")
    step("userinfo")
finally:
    server.terminate()
done()
