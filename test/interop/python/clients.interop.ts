// Python libraries and web frameworks' sign-in packages at their own defaults: none of them sends PKCE.
import { deepEqual } from 'node:assert/strict';
import { after, test } from 'node:test';
import { startIssuer } from '../support/issuer.ts';
import { packages, runPython } from './packages.ts';

const libraries = await packages('libraries');
const django = await packages('django');
const pyoidc = await packages('pyoidc');
const appbuilder = await packages('appbuilder');
const issuer = await startIssuer();
after(() => issuer.close());

const WEB = ['sign-in', 'userinfo'];
const requests = { installed: libraries, file: 'requests_clients.py' } as const;
const flask = { installed: libraries, file: 'flask_clients.py' } as const;
const site = { installed: django, file: 'django_clients.py' } as const;

test('Authlib with requests: sign-in, userinfo, refresh, introspection, revocation', libraries, async () => {
  const steps = await runPython(issuer, { ...requests, name: 'authlib' });
  deepEqual(steps, [...WEB, 'refresh', 'introspect', 'revoke']);
});

test('requests-oauthlib: sign-in, userinfo, refresh with the scopes first asked', libraries, async () => {
  deepEqual(await runPython(issuer, { ...requests, name: 'requests-oauthlib' }), [...WEB, 'refresh']);
});

test('python-keycloak: password, code, userinfo, introspection, refresh, logout', libraries, async () => {
  const metadata = { grant_types: ['authorization_code', 'refresh_token', 'password'] };
  const steps = await runPython(issuer, { ...requests, name: 'python-keycloak', metadata });
  deepEqual(steps, ['password', ...WEB, 'introspect', 'decode', 'refresh', 'logout']);
});

for (const name of ['authlib-flask', 'authlib-starlette'])
  test(`${name}: a web application signs in and reads userinfo`, libraries, async () => {
    deepEqual(await runPython(issuer, { ...flask, name }), WEB);
  });

test('Flask-pyoidc: sign-in, refresh, logout', pyoidc, async () => {
  const client = { ...flask, installed: pyoidc, name: 'flask-pyoidc' };
  deepEqual(await runPython(issuer, client), [...WEB, 'refresh', 'logout']);
});

test('Flask-AppBuilder: sign-in by its keycloak provider', appbuilder, async () => {
  const callback = '/oauth-authorized/keycloak';
  const client = { ...flask, installed: appbuilder, name: 'flask-appbuilder', callback };
  deepEqual(await runPython(issuer, client), WEB);
});

test('mozilla-django-oidc: sign-in, and the ID token renewed without a page', django, async () => {
  const client = { ...site, name: 'mozilla-django-oidc', callback: '/oidc/callback/' };
  deepEqual(await runPython(issuer, client), [...WEB, 'refresh']);
});

test('django-allauth: sign-in by its openid_connect provider', django, async () => {
  const callback = '/accounts/oidc/latchkey/login/callback/';
  deepEqual(await runPython(issuer, { ...site, name: 'django-allauth', callback }), WEB);
});

test('social-auth: sign-in by OpenIdConnectAuth, refresh', django, async () => {
  const client = { ...site, name: 'social-auth', callback: '/complete/oidc/' };
  deepEqual(await runPython(issuer, client), [...WEB, 'refresh']);
});
