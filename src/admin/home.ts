// Owns /admin: the first page after onboarding, where an administrator registers applications. Signed in by the browser's
// SSO session; whoever has none is sent through the sign-in of this provider like any other application's user.
import type Koa from 'koa';
import { applicationDefaults } from '../clients/application-defaults.ts';
import type { Clients } from '../clients/contract.ts';
import { AppError, catalogue } from '../errors.ts';
import type { Csrf } from '../http/csrf.ts';
import type { Form } from '../http/form.ts';
import type { ApplicationType, CreatedApplication, PageModels } from '../http/pages.ts';
import { requestIdOf } from '../http/request-log.ts';
import type { Views } from '../http/views.ts';

export interface AdminAccount {
  readonly id: string;
  readonly username: string;
  readonly role: string;
}

interface Deps {
  readonly views: Views;
  readonly csrf: Csrf;
  readonly basePath: string;
  readonly baseUrl: string;
  readonly issuer: string;
  readonly clients: Pick<Clients, 'create' | 'query'>;
  readonly readForm: (ctx: Koa.Context) => Promise<Form>;
  /** Whoever is signed in with this browser, if the account is usable. */
  readonly signedIn: (ctx: Koa.Context) => Promise<{ sessionUid: string; account: AdminAccount } | undefined>;
  /** Where the browser goes to sign in and comes back to /admin. */
  readonly signInUrl: () => string;
}

const PATHS = new Set(['/admin', '/admin/callback', '/admin/applications']);

const TYPES: readonly ApplicationType[] = ['web', 'spa', 'native', 'machine'];

const isType = (value: string | undefined): value is ApplicationType => TYPES.some((type) => type === value);

const lines = (text: string | undefined): string[] =>
  (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);

/** Where an application's person returns after signing out unless it says otherwise; without one, it could not. */
const startPages = (redirectUris: readonly string[]): string[] => {
  const web = redirectUris
    .map((uri) => URL.parse(uri))
    .filter((url) => /^https?:$/.test(url?.protocol ?? ''));
  return [...new Set(web.map((url) => `${url?.origin}/`))];
};

type Applications = PageModels['admin-home']['applications'];

export function adminHome(deps: Deps): Koa.Middleware {
  const { views, csrf, basePath, baseUrl, issuer, clients, readForm, signedIn, signInUrl } = deps;
  const home = `${basePath}/admin`;

  async function applications(): Promise<Applications> {
    const { items } = await clients.query({ sort: 'created_at', order: 'desc', limit: 100 });
    return items
      .filter(({ value }) => value.origin !== 'seed')
      .map(({ id, value }) => ({
        clientId: id,
        name: typeof value.metadata.client_name === 'string' ? value.metadata.client_name : id,
        type: typeOf(value.metadata),
        redirectUris: Array.isArray(value.metadata.redirect_uris)
          ? value.metadata.redirect_uris.map(String)
          : [],
        createdAt: value.createdAt,
      }));
  }

  interface Outcome {
    readonly values?: Record<string, string>;
    readonly errors?: Readonly<Record<string, string>>;
    readonly created?: CreatedApplication;
  }

  async function send(
    ctx: Koa.Context,
    who: { sessionUid: string; account: AdminAccount },
    { values = {}, errors = {}, created }: Outcome = {},
  ): Promise<void> {
    views.send(
      ctx,
      'admin-home',
      {
        csrf: csrf.token(ctx, `admin:${who.sessionUid}`),
        account: { username: who.account.username },
        baseUrl,
        issuer,
        discoveryUrl: `${baseUrl}/.well-known/openid-configuration`,
        applications: await applications(),
        values,
        errors,
        created,
      },
      { status: Object.keys(errors).length > 0 ? 400 : 200 },
    );
  }

  async function register(
    ctx: Koa.Context,
    who: { sessionUid: string; account: AdminAccount },
  ): Promise<void> {
    const form = await readForm(ctx);
    csrf.verify(ctx, `admin:${who.sessionUid}`, form.get('csrf'));
    const values = Object.fromEntries(form.keys().map((name) => [name, form.get(name) ?? '']));
    const type = form.get('type');
    if (!isType(type)) return send(ctx, who, { values, errors: { type: 'Choose one of the four kinds.' } });
    const redirectUris = lines(form.get('redirect_uris'));
    const named = lines(form.get('post_logout_redirect_uris'));
    const postLogoutUris = named.length > 0 || type === 'machine' ? named : startPages(redirectUris);
    try {
      const made = await clients.create({
        metadata: {
          ...applicationDefaults(type),
          client_name: (form.get('name') ?? '').trim(),
          ...(redirectUris.length > 0 ? { redirect_uris: redirectUris } : {}),
          ...(postLogoutUris.length > 0 ? { post_logout_redirect_uris: postLogoutUris } : {}),
        },
        settings: { skipConsent: form.get('first_party') === 'on' },
        origin: 'admin',
      });
      const { client, clientSecret } = made;
      const name = String(client.value.metadata.client_name ?? client.id);
      const [redirectUri] = redirectUris;
      await send(ctx, who, { created: { clientId: client.id, clientSecret, name, type, redirectUri } });
    } catch (error) {
      if (!(error instanceof AppError) || error.fields === undefined) throw error;
      const { client_name: nameProblem, ...fields } = error.fields;
      await send(ctx, who, { values, errors: nameProblem ? { name: nameProblem, ...fields } : fields });
    }
  }

  /** With the one thing that helps: becoming somebody else. */
  function refuse(ctx: Koa.Context): void {
    const reason = 'auth.insufficient_scope';
    const { status, message } = catalogue[reason];
    views.send(ctx, 'error', {
      status,
      message,
      reason,
      requestId: requestIdOf(ctx),
      backUrl: `${baseUrl}/oauth2/logout`,
      backLabel: { key: 'action.sign_out' },
    });
  }

  return async (ctx, next) => {
    if (!PATHS.has(ctx.path)) return next();
    ctx.set('Cache-Control', 'no-store');
    const who = await signedIn(ctx);
    if (who === undefined) {
      // Somebody who cancelled would only see the sign-in page again, and a lasting error would go round for ever.
      if (ctx.path === '/admin/callback' && ctx.query.error !== undefined) {
        if (ctx.query.error !== 'access_denied') throw new AppError('server.error');
        return views.send(ctx, 'signed-out', { continueUrl: `${baseUrl}/admin` });
      }
      ctx.status = 303;
      ctx.redirect(signInUrl());
      return undefined;
    }
    if (who.account.role !== 'admin') return refuse(ctx);
    if (ctx.path === '/admin/applications' && ctx.method === 'POST') return register(ctx, who);
    if (ctx.path !== '/admin') {
      ctx.status = 303;
      ctx.redirect(home);
      return undefined;
    }
    return send(ctx, who);
  };
}

function typeOf(metadata: Readonly<Record<string, unknown>>): ApplicationType {
  if (metadata.application_type === 'native') return 'native';
  const grants: unknown[] = Array.isArray(metadata.grant_types) ? metadata.grant_types : [];
  if (!grants.includes('authorization_code')) return 'machine';
  return metadata.token_endpoint_auth_method === 'none' ? 'spa' : 'web';
}
