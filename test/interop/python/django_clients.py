"""One Django project, with one of its sign-in packages: mozilla-django-oidc, django-allauth, social-auth."""
import os
import sys
import tempfile
import threading
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, make_server

from wire import CLIENT_ID, CLIENT_SECRET, DISCOVERY, ISSUER, REDIRECT_URI, ask, done, expect, step

HOME = "{0.scheme}://{0.netloc}".format(urlsplit(REDIRECT_URI))
PORT = urlsplit(REDIRECT_URI).port
KIND = sys.argv[1]

APPS = {
    "mozilla-django-oidc": ["mozilla_django_oidc"],
    "django-allauth": [
        "allauth",
        "allauth.account",
        "allauth.socialaccount",
        "allauth.socialaccount.providers.openid_connect",
    ],
    "social-auth": ["social_django"],
}[KIND]
MIDDLEWARE = {
    "mozilla-django-oidc": ["mozilla_django_oidc.middleware.SessionRefresh"],
    "django-allauth": ["allauth.account.middleware.AccountMiddleware"],
    "social-auth": [],
}[KIND]
BACKEND = {
    "mozilla-django-oidc": "mozilla_django_oidc.auth.OIDCAuthenticationBackend",
    "django-allauth": "allauth.account.auth_backends.AuthenticationBackend",
    "social-auth": "social_core.backends.open_id_connect.OpenIdConnectAuth",
}[KIND]
OWN = {
    "mozilla-django-oidc": {
        "OIDC_RP_CLIENT_ID": CLIENT_ID,
        "OIDC_RP_CLIENT_SECRET": CLIENT_SECRET,
        "OIDC_RP_SIGN_ALGO": "RS256",
        "OIDC_OP_AUTHORIZATION_ENDPOINT": f"{ISSUER}/authorize",
        "OIDC_OP_TOKEN_ENDPOINT": f"{ISSUER}/token",
        "OIDC_OP_USER_ENDPOINT": f"{ISSUER}/userinfo",
        "OIDC_OP_JWKS_ENDPOINT": f"{ISSUER}/.well-known/jwks.json",
    },
    "django-allauth": {
        "SOCIALACCOUNT_PROVIDERS": {
            "openid_connect": {
                "APPS": [
                    {
                        "provider_id": "latchkey",
                        "name": "Latchkey",
                        "client_id": CLIENT_ID,
                        "secret": CLIENT_SECRET,
                        "settings": {"server_url": DISCOVERY},
                    }
                ]
            }
        }
    },
    "social-auth": {
        "SOCIAL_AUTH_OIDC_OIDC_ENDPOINT": ISSUER,
        "SOCIAL_AUTH_OIDC_KEY": CLIENT_ID,
        "SOCIAL_AUTH_OIDC_SECRET": CLIENT_SECRET,
    },
}[KIND]

import django  # noqa: E402
from django.conf import settings  # noqa: E402

settings.configure(
    DEBUG=True,
    SECRET_KEY="of a test",
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF=__name__,
    LOGIN_REDIRECT_URL="/",
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": os.path.join(tempfile.mkdtemp(), "app.db"),
        }
    },
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
        *APPS,
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        *MIDDLEWARE,
    ],
    AUTHENTICATION_BACKENDS=[BACKEND],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    **OWN,
)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.middleware.csrf import get_token  # noqa: E402
from django.urls import include, path  # noqa: E402


def who(request):
    return HttpResponse(f"signed in as {request.user.email}" if request.user.is_authenticated else "no one")


def start(request):
    """The site's own page with its button: both packages want a POST."""
    to = {"django-allauth": "/accounts/oidc/latchkey/login/", "social-auth": "/login/oidc/"}[KIND]
    token = get_token(request)
    return HttpResponse(
        f'<form method="post" action="{to}"><input type="hidden" name="csrfmiddlewaretoken" value="{token}"></form>'
    )


def age(request):
    """Makes mozilla-django-oidc's ID token as old as it is after a quarter of an hour."""
    request.session["oidc_id_token_expiration"] = 1
    return HttpResponse("older")


urlpatterns = [
    path("", who),
    path("age", age),
    path("start", start),
    {
        "mozilla-django-oidc": lambda: path("oidc/", include("mozilla_django_oidc.urls")),
        "django-allauth": lambda: path("accounts/", include("allauth.urls")),
        "social-auth": lambda: path("", include("social_django.urls", namespace="social")),
    }[KIND](),
]

call_command("migrate", verbosity=0)


class Quiet(WSGIRequestHandler):
    def log_message(self, *_arguments):
        pass


server = make_server("localhost", PORT, get_wsgi_application(), handler_class=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()


def visit(at, **more):
    return ask(visit=HOME + at, **more)["page"]


def see(page, text):
    expect(page["status"] == 200 and text in page["body"], f"a page with {text}", page)


SIGNED_IN = "signed in as grace@example.com"
if KIND == "mozilla-django-oidc":
    see(visit("/oidc/authenticate/"), SIGNED_IN)
    step("sign-in")
    step("userinfo")
    visit("/age")
    # By prompt=none, without a page.
    see(visit("/"), SIGNED_IN)
    step("refresh")
elif KIND == "django-allauth":
    see(visit("/start", submit={}), SIGNED_IN)
    step("sign-in")
    step("userinfo")
else:
    see(visit("/start", submit={}), SIGNED_IN)
    step("sign-in")
    step("userinfo")
    from social_django.models import UserSocialAuth
    from social_django.utils import load_strategy

    social = UserSocialAuth.objects.get()
    if social.extra_data.get("refresh_token"):
        before = social.extra_data["access_token"]
        social.refresh_token(load_strategy())
        expect(social.extra_data["access_token"] != before, "a new access token")
        step("refresh")
done()
