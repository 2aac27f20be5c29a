"""A Django application around the lines of the Admin UI, which are in tokens.py beside this file's copy."""
import os
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="none")
django.setup()

from tokens import needs


@needs("read")
def read(request):
    return JsonResponse({"user": request.token["sub"]})


urlpatterns = [path("", read)]
make_server("localhost", int(os.environ["PORT"]), get_wsgi_application()).serve_forever()
