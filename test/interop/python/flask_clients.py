"""Web applications on Flask and Starlette, as a visitor's browser sees them."""
import sys
import tempfile
import threading
from urllib.parse import urlsplit

from wire import BASE_URL, CLIENT_ID, CLIENT_SECRET, DISCOVERY, ISSUER, REDIRECT_URI, ask, done, expect, step

HOME = "{0.scheme}://{0.netloc}".format(urlsplit(REDIRECT_URI))
PORT = urlsplit(REDIRECT_URI).port


def serve(app):
    from werkzeug.serving import make_server

    server = make_server("localhost", PORT, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def visit(path, **more):
    return ask(visit=HOME + path, **more)["page"]


def see(page, text):
    expect(page["status"] == 200 and text in page["body"], f"a page with {text}", page)


def authlib_flask():
    import flask
    from authlib.integrations.flask_client import OAuth

    app = flask.Flask(__name__)
    app.secret_key = "of a test"
    oauth = OAuth(app)
    oauth.register(
        "latchkey",
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        server_metadata_url=DISCOVERY,
        client_kwargs={"scope": "openid profile email"},
    )

    @app.route("/")
    def start():
        return oauth.latchkey.authorize_redirect(REDIRECT_URI)

    @app.route("/callback")
    def callback():
        token = oauth.latchkey.authorize_access_token()
        person = oauth.latchkey.userinfo(token=token)
        return f"{token['userinfo']['sub'] == person['sub']} {person['email']}"

    serve(app)
    see(visit("/"), "True grace@example.com")
    step("sign-in")
    step("userinfo")


def authlib_starlette():
    import uvicorn
    from authlib.integrations.starlette_client import OAuth
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.sessions import SessionMiddleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    oauth = OAuth()
    oauth.register(
        "latchkey",
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        server_metadata_url=DISCOVERY,
        client_kwargs={"scope": "openid profile email"},
    )

    async def start(request):
        return await oauth.latchkey.authorize_redirect(request, REDIRECT_URI)

    async def callback(request):
        token = await oauth.latchkey.authorize_access_token(request)
        person = await oauth.latchkey.userinfo(token=token)
        return PlainTextResponse(f"{token['userinfo']['sub'] == person['sub']} {person['email']}")

    app = Starlette(
        routes=[Route("/", start), Route("/callback", callback)],
        middleware=[Middleware(SessionMiddleware, secret_key="of a test")],
    )
    server = uvicorn.Server(uvicorn.Config(app, host="localhost", port=PORT, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        threading.Event().wait(0.05)
    see(visit("/"), "True grace@example.com")
    step("sign-in")
    step("userinfo")


def flask_pyoidc():
    import flask
    from flask_pyoidc import OIDCAuthentication
    from flask_pyoidc.provider_configuration import ClientMetadata, ProviderConfiguration
    from flask_pyoidc.user_session import UserSession

    app = flask.Flask(__name__)
    app.config.update(OIDC_REDIRECT_URI=REDIRECT_URI, SECRET_KEY="of a test")
    provider = ProviderConfiguration(
        issuer=ISSUER,
        client_metadata=ClientMetadata(
            client_id=CLIENT_ID, client_secret=CLIENT_SECRET, post_logout_redirect_uris=[HOME + "/out"]
        ),
        auth_request_params={"scope": ["openid", "profile", "email", "offline_access"]},
    )
    auth = OIDCAuthentication({"default": provider}, app)

    @app.route("/")
    @auth.oidc_auth("default")
    def start():
        return UserSession(flask.session).userinfo["email"]

    @app.route("/refresh")
    @auth.oidc_auth("default")
    def refresh():
        before = UserSession(flask.session).refresh_token
        token = auth.valid_access_token(force_refresh=True)
        return f"renewed {bool(token) and UserSession(flask.session).refresh_token != before}"

    @app.route("/out")
    @auth.oidc_logout
    def out():
        return "out"

    serve(app)
    see(visit("/"), "grace@example.com")
    step("sign-in")
    step("userinfo")
    see(visit("/refresh"), "renewed True")
    step("refresh")
    back = ask(logout=HOME + "/out")["callback"]
    expect(back.startswith(HOME + "/out"), "back at the client", back[-600:])
    step("logout")


def flask_appbuilder():
    """As Airflow and Superset have it: the `keycloak` provider, in its layout."""
    import logging

    import flask
    from flask_appbuilder import AppBuilder
    from flask_appbuilder.models.sqla.base import SQLA
    from flask_appbuilder.security.manager import AUTH_OAUTH

    logging.basicConfig(level=logging.INFO)
    layout = f"{BASE_URL}/realms/main/protocol/openid-connect"
    app = flask.Flask(__name__)
    app.config.update(
        SECRET_KEY="of a test that is long enough for everyone",
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{tempfile.mkdtemp()}/app.db",
        AUTH_TYPE=AUTH_OAUTH,
        AUTH_USER_REGISTRATION=True,
        AUTH_USER_REGISTRATION_ROLE="Admin",
        OAUTH_PROVIDERS=[
            {
                "name": "keycloak",
                "icon": "fa-key",
                "token_key": "access_token",
                "remote_app": {
                    "client_id": CLIENT_ID,
                    "client_secret": CLIENT_SECRET,
                    "server_metadata_url": f"{BASE_URL}/realms/main/.well-known/openid-configuration",
                    "api_base_url": f"{BASE_URL}/realms/main/protocol/",
                    "client_kwargs": {"scope": "openid email profile"},
                    "access_token_url": f"{layout}/token",
                    "authorize_url": f"{layout}/auth",
                    "request_token_url": None,
                },
            }
        ],
    )
    with app.app_context():
        database = SQLA(app)
        builder = AppBuilder(app, database.session)

        @app.route("/who")
        def who():
            from flask_login import current_user

            return getattr(current_user, "email", "no one")

        serve(app)
        visit("/login/keycloak")
        see(visit("/who"), "grace@example.com")
    expect(builder is not None, "application")
    step("sign-in")
    step("userinfo")


{
    "authlib-flask": authlib_flask,
    "authlib-starlette": authlib_starlette,
    "flask-pyoidc": flask_pyoidc,
    "flask-appbuilder": flask_appbuilder,
}[sys.argv[1]]()
done()
