"""A Synapse homeserver that signs in at the provider, and a Matrix client's part beside it."""
import os
import subprocess
import sys
import tempfile
import time
from urllib.parse import parse_qs, urlsplit

import requests
from wire import CLIENT_ID, CLIENT_SECRET, ISSUER, REDIRECT_URI, ask, done, expect, step

HOME = "{0.scheme}://{0.netloc}".format(urlsplit(REDIRECT_URI))
PORT = urlsplit(REDIRECT_URI).port
folder = tempfile.mkdtemp()
config = os.path.join(folder, "homeserver.yaml")
command = [sys.executable, "-m", "synapse.app.homeserver", "--config-path", config]
subprocess.run(
    [*command, "--server-name", "localhost", "--generate-config", "--report-stats=no"],
    check=True, cwd=folder, stdout=sys.stderr,
)
own = os.path.join(folder, "own.yaml")
with open(own, "w", encoding="utf-8") as file:
    file.write(f"""
public_baseurl: {HOME}/
trusted_key_servers: []
listeners:
  - {{port: {PORT}, type: http, bind_addresses: ['127.0.0.1'], resources: [{{names: [client]}}]}}
sso: {{client_whitelist: ['{HOME}/_matrix/static/']}}
oidc_providers:
  - idp_id: latchkey
    idp_name: Latchkey
    # It wants https of an issuer; there is none on loopback.
    skip_verification: true
    issuer: {ISSUER}
    client_id: {CLIENT_ID}
    client_secret: {CLIENT_SECRET}
    scopes: [openid, profile, email]
    backchannel_logout_enabled: true
    user_mapping_provider:
      config:
        localpart_template: '{{{{ user.preferred_username }}}}'
        display_name_template: '{{{{ user.name }}}}'
""")
server = subprocess.Popen([*command, "--config-path", own], cwd=folder, stdout=sys.stderr)
try:
    for _ in range(300):
        try:
            flows = requests.get(f"{HOME}/_matrix/client/v3/login", timeout=5).json()
            break
        except requests.ConnectionError:
            expect(server.poll() is None, "homeserver runs")
            time.sleep(0.2)
    expect("m.login.sso" in str(flows), "sign-in by SSO", flows)
    target = f"{HOME}/_matrix/static/"
    page = ask(visit=f"{HOME}/_matrix/client/v3/login/sso/redirect/oidc-latchkey?redirectUrl={target}")["page"]
    token = parse_qs(urlsplit(page["url"]).query).get("loginToken", [""])[0]
    expect(token, "a login token", page)
    answer = requests.post(
        f"{HOME}/_matrix/client/v3/login", json={"type": "m.login.token", "token": token}, timeout=30
    ).json()
    expect(answer.get("user_id") == "@grace:localhost", "signed in at the homeserver", answer)
    step("sign-in")
    bearer = {"Authorization": f"Bearer {answer['access_token']}"}
    name = requests.get(f"{HOME}/_matrix/client/v3/profile/@grace:localhost/displayname", headers=bearer, timeout=30)
    expect(name.json().get("displayname") == "Grace Hopper", "name of userinfo", name.text)
    step("userinfo")
    who = f"{HOME}/_matrix/client/v3/account/whoami"
    expect(requests.get(who, headers=bearer, timeout=30).status_code == 200, "session before logout")
    ask(logout=f"{ISSUER}/logout")
    for _ in range(100):
        status = requests.get(who, headers=bearer, timeout=30).status_code
        if status == 401:
            break
        time.sleep(0.2)
    expect(status == 401, "session ended by back-channel logout", status)
    step("logout")
finally:
    server.terminate()
done()
