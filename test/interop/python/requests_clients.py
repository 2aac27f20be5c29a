"""Authlib and requests-oauthlib with requests, python-keycloak: programs that have no web server."""
import secrets
import sys

from wire import BASE_URL, CLIENT_ID, CLIENT_SECRET, DISCOVERY, REDIRECT_URI, ask, done, expect, step

SCOPES = ["openid", "profile", "email", "offline_access"]


def authlib():
    import requests
    from authlib.integrations.requests_client import OAuth2Session

    at = requests.get(DISCOVERY, timeout=30).json()
    client = OAuth2Session(CLIENT_ID, CLIENT_SECRET, scope=" ".join(SCOPES), redirect_uri=REDIRECT_URI)
    url, state = client.create_authorization_url(
        at["authorization_endpoint"], nonce=secrets.token_urlsafe(8)
    )
    back = ask(authorize=url)["callback"]
    token = client.fetch_token(at["token_endpoint"], authorization_response=back, state=state)
    expect("id_token" in token, "ID token", sorted(token))
    step("sign-in", scope=token["scope"])
    person = client.get(at["userinfo_endpoint"]).json()
    expect(person.get("email") == "grace@example.com", "userinfo", person)
    step("userinfo")
    renewed = client.refresh_token(at["token_endpoint"], refresh_token=token["refresh_token"])
    expect(renewed["refresh_token"] != token["refresh_token"], "a new refresh token")
    step("refresh")
    known = client.introspect_token(at["introspection_endpoint"], token=renewed["access_token"]).json()
    expect(known["active"] is True, "introspection", known)
    step("introspect")
    answer = client.revoke_token(at["revocation_endpoint"], token=renewed["refresh_token"])
    expect(answer.status_code == 200, "revocation", answer.text)
    known = client.introspect_token(at["introspection_endpoint"], token=renewed["access_token"]).json()
    expect(known == {"active": False}, "introspection after revocation", known)
    step("revoke")


def requests_oauthlib():
    import requests
    from requests_oauthlib import OAuth2Session

    at = requests.get(DISCOVERY, timeout=30).json()
    client = OAuth2Session(CLIENT_ID, redirect_uri=REDIRECT_URI, scope=SCOPES)
    url, _state = client.authorization_url(at["authorization_endpoint"])
    back = ask(authorize=url)["callback"]
    # Raises a warning as an exception when the scope of the answer is not the one asked.
    client.fetch_token(at["token_endpoint"], authorization_response=back, client_secret=CLIENT_SECRET)
    step("sign-in")
    person = client.get(at["userinfo_endpoint"]).json()
    expect(person.get("email") == "grace@example.com", "userinfo", person)
    step("userinfo")
    client.refresh_token(at["token_endpoint"], client_id=CLIENT_ID, client_secret=CLIENT_SECRET)
    step("refresh")


def python_keycloak():
    from keycloak import KeycloakOpenID

    client = KeycloakOpenID(
        server_url=BASE_URL, realm_name="main", client_id=CLIENT_ID, client_secret_key=CLIENT_SECRET
    )
    expect("token_endpoint" in client.well_known(), "discovery")
    token = client.token("grace", "correct horse battery staple", scope="openid profile email")
    step("password")
    url = client.auth_url(redirect_uri=REDIRECT_URI, scope="openid profile email", state="st")
    back = ask(authorize=url)["callback"]
    code = back.split("code=")[1].split("&")[0]
    token = client.token(grant_type="authorization_code", code=code, redirect_uri=REDIRECT_URI)
    step("sign-in")
    person = client.userinfo(token["access_token"])
    expect(person["email"] == "grace@example.com", "userinfo", person)
    step("userinfo")
    expect(client.introspect(token["access_token"])["active"] is True, "introspection")
    step("introspect")
    claims = client.decode_token(token["access_token"])
    expect(claims["preferred_username"] == "grace", "decode_token", claims)
    step("decode")
    token = client.refresh_token(token["refresh_token"])
    step("refresh")
    client.logout(token["refresh_token"])
    expect(client.introspect(token["access_token"])["active"] is False, "introspection after logout")
    step("logout")


{"authlib": authlib, "requests-oauthlib": requests_oauthlib, "python-keycloak": python_keycloak}[sys.argv[1]]()
done()
