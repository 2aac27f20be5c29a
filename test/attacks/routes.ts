// Every address, for attacks on all of them: pages and protocol by name, the admin API from its own OpenAPI document, so that
// a new route is attacked by default.
import { ADMIN_TOKEN, type TestApp } from '../support/app.ts';

export interface Route {
  readonly method: string;
  readonly path: string;
  /** What its body is; absent: it takes none. */
  readonly body?: 'form' | 'json';
  /** Whether it is for administrators with a bearer. */
  readonly isAdmin?: boolean;
}

const UUID = '00000000-0000-4000-8000-000000000000';

const pages: readonly Route[] = [
  '/',
  '/onboard',
  '/oauth2/onboard',
  '/oauth2/authorize',
  `/oauth2/authorize/${'a'.repeat(43)}`,
  '/oauth2/login',
  '/oauth2/consent',
  '/oauth2/mfa',
  '/oauth2/recover',
  '/signup',
  '/oauth2/signup',
  '/oauth2/signup/verify',
  '/oauth2/enrol',
  '/oauth2/forgot-password',
  '/oauth2/reset-password',
  '/oauth2/verify-email',
  '/oauth2/magic-link',
  '/oauth2/logout',
  // 404 without the setting legacy_profiles, and then no frame without a registered page around it.
  '/oauth2/check_session',
  '/oauth2/device',
  '/account',
  '/account/callback',
  '/account/passkeys',
  '/account/applications',
  '/account/profile',
  '/account/picture',
  '/avatars/AAAAAAAAAAAAAAAAAAAAAA/256.jpg',
  '/account/email',
  '/account/email/confirm',
  '/account/email/stop',
  '/account/data',
  '/account/delete',
  '/account/not-me',
  '/account/password',
  '/account/second-factor',
  '/account/second-factor/app',
  '/account/second-factor/codes',
  '/admin',
  '/admin/callback',
  '/admin/applications',
  '/admin/api-reference',
  '/admin/api-reference/users',
  '/admin/applications/try/callback',
  '/admin/keys',
  '/admin/settings/export',
  '/admin/branding/export',
  '/admin/branding/mails/export',
].map((path) => ({ method: 'GET', path }));

const publicDocuments: readonly Route[] = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/oauth2',
  '/.well-known/jwks.json',
  '/.well-known/webauthn',
  '/.well-known/change-password',
  '/.well-known/webfinger',
  '/oauth2/.well-known/openid-configuration',
  '/oauth2/.well-known/oauth-authorization-server',
  '/oauth2/.well-known/jwks.json',
  '/realms/any',
  '/realms/any/.well-known/openid-configuration',
  '/realms/any/protocol/openid-connect/certs',
  '/realms/any/protocol/openid-connect/3p-cookies/step1.html',
].map((path) => ({ method: 'GET', path }));

const forms: readonly Route[] = [
  '/',
  '/onboard',
  '/oauth2/onboard',
  '/oauth2/authorize',
  '/oauth2/login',
  '/oauth2/consent',
  '/oauth2/mfa',
  '/oauth2/recover',
  '/oauth2/signup',
  '/oauth2/signup/verify',
  '/oauth2/enrol',
  '/oauth2/mfa/email',
  '/oauth2/signup/email',
  '/account/passkeys/rename',
  '/account/passkeys/remove',
  '/account/profile',
  '/account/picture',
  '/account/picture/remove',
  '/account/email',
  '/account/email/confirm',
  '/account/email/primary',
  '/account/email/remove',
  '/account/email/settle',
  '/account/data',
  '/account/delete',
  '/account/not-me',
  '/account/email/stop',
  '/account/password',
  '/account/sessions/end',
  '/account/sessions/end-others',
  '/account/devices/forget',
  '/account/devices/forget-all',
  '/account/applications/remove',
  '/account/email/verify',
  '/account/second-factor/app',
  '/account/second-factor/app/remove',
  '/account/second-factor/email',
  '/account/second-factor/email/remove',
  '/account/second-factor/codes',
  '/oauth2/forgot-password',
  '/oauth2/reset-password',
  '/oauth2/verify-email',
  '/oauth2/magic-link',
  '/oauth2/language',
  '/oauth2/logout',
  '/oauth2/device',
  '/oauth2/token',
  '/oauth2/userinfo',
  '/oauth2/introspect',
  '/oauth2/revoke',
  '/oauth2/par',
  '/oauth2/device_authorization',
  '/oauth2/protocol/openid-connect/token',
  '/oauth2/protocol/openid-connect/token/introspect',
  '/realms/any/protocol/openid-connect/revoke',
].map((path) => ({ method: 'POST', path, body: 'form' }));

const programs: readonly Route[] = [
  // Whoever is not signed in is sent to sign in, and the body is not looked at.
  { method: 'POST', path: '/admin/applications/new/web' },
  { method: 'POST', path: '/admin/users/import' },
  { method: 'GET', path: '/oauth2/userinfo' },
  { method: 'OPTIONS', path: '/oauth2/token' },
  { method: 'POST', path: '/oauth2/register', body: 'json', isAdmin: true },
  { method: 'POST', path: '/oauth2/passkey/login/begin', body: 'json' },
  { method: 'POST', path: '/oauth2/passkey/login/finish', body: 'json' },
  { method: 'POST', path: '/oauth2/passkey/register/begin', body: 'json' },
  { method: 'POST', path: '/oauth2/passkey/register/finish', body: 'json' },
  { method: 'POST', path: '/account/passkeys/register/begin', body: 'json' },
  { method: 'POST', path: '/account/passkeys/register/finish', body: 'json' },
  { method: 'GET', path: '/account/api/profile' },
  { method: 'PATCH', path: '/account/api/profile', body: 'json' },
  { method: 'POST', path: '/account/api/profile/send-email-verification' },
  { method: 'PUT', path: '/account/api/avatar' },
  { method: 'DELETE', path: '/account/api/avatar' },
  { method: 'GET', path: '/account/api/activity' },
  { method: 'GET', path: '/account/api/openapi.json' },
  { method: 'GET', path: '/account/api/export' },
  { method: 'POST', path: '/account/api/report-compromise' },
  { method: 'GET', path: '/account/api/email' },
  { method: 'POST', path: '/account/api/email', body: 'json' },
  { method: 'POST', path: '/account/api/email/make-primary', body: 'json' },
  { method: 'POST', path: '/account/api/email/remove', body: 'json' },
  { method: 'POST', path: '/account/api/email/settle', body: 'json' },
  { method: 'PUT', path: '/account/api/password', body: 'json' },
  { method: 'POST', path: '/account/api/totp' },
  { method: 'DELETE', path: '/account/api/totp' },
  { method: 'POST', path: '/account/api/totp/confirm', body: 'json' },
  { method: 'POST', path: '/account/api/email-codes' },
  { method: 'DELETE', path: '/account/api/email-codes' },
  { method: 'POST', path: '/account/api/recovery-codes' },
  { method: 'GET', path: '/account/api/passkeys' },
  { method: 'POST', path: '/account/api/passkeys/register/begin' },
  { method: 'POST', path: '/account/api/passkeys/register/finish', body: 'json' },
  { method: 'PATCH', path: `/account/api/passkeys/${UUID}`, body: 'json' },
  { method: 'DELETE', path: `/account/api/passkeys/${UUID}` },
  { method: 'GET', path: '/account/api/sessions' },
  { method: 'DELETE', path: '/account/api/sessions' },
  { method: 'DELETE', path: `/account/api/sessions/${UUID}` },
  { method: 'GET', path: '/account/api/trusted-devices' },
  { method: 'DELETE', path: '/account/api/trusted-devices' },
  { method: 'DELETE', path: `/account/api/trusted-devices/${UUID}` },
  { method: 'GET', path: '/account/api/applications' },
  { method: 'DELETE', path: `/account/api/applications/${UUID}` },
  { method: 'GET', path: `/oauth2/register/${UUID}` },
  { method: 'PUT', path: `/oauth2/register/${UUID}`, body: 'json' },
  { method: 'DELETE', path: `/oauth2/register/${UUID}` },
];

const unknown: readonly Route[] = [
  { method: 'GET', path: '/nothing/here' },
  { method: 'GET', path: '/assets/nothing.css' },
  { method: 'GET', path: '/oauth2/nothing' },
  { method: 'GET', path: '/account/nothing' },
  { method: 'PUT', path: '/oauth2/token' },
  { method: 'DELETE', path: '/oauth2/login' },
];

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: object }>>>>;
}

async function adminRoutes(app: Pick<TestApp, 'url'>): Promise<Route[]> {
  const response = await fetch(`${app.url}/admin/api/openapi.json`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const { paths }: OpenApi = JSON.parse(await response.text());
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]): Route => {
      const route = {
        method: method.toUpperCase(),
        path: `/admin/api${path.replace(/\{\w+\}/g, UUID)}`,
        isAdmin: true,
      };
      return requestBody === undefined ? route : { ...route, body: 'json' };
    }),
  );
}

/** Every method at every address that there is, and a few that there are not. */
export async function allRoutes(app: Pick<TestApp, 'url'>): Promise<Route[]> {
  return [...pages, ...publicDocuments, ...forms, ...programs, ...unknown, ...(await adminRoutes(app))];
}
