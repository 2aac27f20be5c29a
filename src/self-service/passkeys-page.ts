// Owns /account/passkeys: the page on which people add, rename and remove their own passkeys. Looking takes a session;
// changing takes one that was begun in the last five minutes and as strongly as the account can (decisions §7, R098).
import type Koa from 'koa';
import { AppError, type ErrorCode } from '../errors.ts';
import { answerJson, type JsonBody, jsonBody } from '../http/ceremony.ts';
import type { Csrf } from '../http/csrf.ts';
import type { Form } from '../http/form.ts';
import { createRouter } from '../http/router.ts';
import type { PageModels } from '../views/pages.ts';
import type { Views } from '../views/views.ts';
import type { SignedIn } from './visit.ts';

interface PasskeyAccount {
  readonly id: string;
  readonly username: string;
}

interface OwnPasskey {
  readonly id: string;
  readonly label: string;
  readonly authenticator: string | undefined;
  readonly kind: 'passkey' | 'security_key';
  readonly isSynced: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
  readonly counterWentBackAt: number | undefined;
  readonly canRemove: boolean;
}

interface Deps<A extends PasskeyAccount> {
  readonly views: Views;
  readonly csrf: Csrf;
  readonly basePath: string;
  readonly readForm: (ctx: Koa.Context) => Promise<Form>;
  readonly readJson: (ctx: Koa.Context, options: { limitBytes: number }) => Promise<unknown>;
  readonly signedIn: (ctx: Koa.Context) => Promise<SignedIn<A> | undefined>;
  readonly signInUrl: () => string;
  /** To prove once more who it is, as strongly as the account can. */
  readonly confirmUrl: (account: A) => string;
  readonly passkeys: {
    list(account: A): Promise<readonly OwnPasskey[]>;
    signals(account: A): object;
    begin(input: { account: A; boundTo: string }): Promise<object>;
    add(
      ctx: Koa.Context,
      who: SignedIn<A>,
      input: { boundTo: string; response: unknown },
    ): Promise<{ readonly id: string }>;
    rename(account: A, id: string, label: string): Promise<void>;
    remove(ctx: Koa.Context, who: SignedIn<A>, id: string): Promise<void>;
  };
}

type Notice = NonNullable<PageModels['account-passkeys']['notice']>;

const LIMIT_BYTES = 48 * 1024;
const NOTICES: readonly Notice[] = ['added', 'renamed', 'removed'];
/** What a person can mend is told on the page. */
const ALERTS: { readonly [Code in ErrorCode]?: string } = {
  'passkey.not_found': 'alert.passkey_gone',
  'passkey.last': 'alert.passkey_last',
  'passkey.last_admin': 'alert.passkey_last',
  'request.invalid': 'alert.passkey_name',
};

export function accountPasskeys<A extends PasskeyAccount>(deps: Deps<A>): Koa.Middleware {
  const { views, csrf, basePath, readForm, readJson, signedIn, signInUrl, confirmUrl, passkeys } = deps;
  const home = `${basePath}/account/passkeys`;
  const purposeOf = ({ sessionUid }: SignedIn<A>): string => `account:${sessionUid}`;
  const boundTo = ({ sessionUid }: SignedIn<A>): string => `session ${sessionUid}`;

  function goTo(ctx: Koa.Context, url: string): void {
    ctx.status = 303;
    ctx.redirect(url);
  }

  async function show(ctx: Koa.Context, who: SignedIn<A>, alert?: { key: string; status: number }) {
    const own = await passkeys.list(who.account);
    const { notice } = ctx.query;
    views.send(
      ctx,
      'account-passkeys',
      {
        csrf: csrf.token(ctx, purposeOf(who)),
        account: { username: who.account.username },
        passkeys: own.map(({ kind, counterWentBackAt, ...passkey }) => ({
          ...passkey,
          isSecurityKey: kind === 'security_key',
          isSuspicious: counterWentBackAt !== undefined,
        })),
        confirmUrl: who.isFresh ? undefined : confirmUrl(who.account),
        notice: NOTICES.find((name) => name === notice),
        alert: alert && { key: alert.key },
        signals: passkeys.signals(who.account),
      },
      { status: alert?.status ?? 200 },
    );
  }

  async function change(ctx: Koa.Context, who: SignedIn<A>, act: (form: Form) => Promise<Notice>) {
    const form = await readForm(ctx);
    csrf.verify(ctx, purposeOf(who), form.get('csrf'));
    if (!who.isFresh) return goTo(ctx, confirmUrl(who.account));
    try {
      const notice = await act(form);
      return goTo(ctx, `${home}?notice=${notice}`);
    } catch (error) {
      const key = error instanceof AppError ? ALERTS[error.code] : undefined;
      if (!(error instanceof AppError) || key === undefined) throw error;
      return show(ctx, who, { key, status: error.status });
    }
  }

  async function ceremony(ctx: Koa.Context, who: SignedIn<A> | undefined, act: typeof begin): Promise<void> {
    await answerJson(ctx, async () => {
      if (who === undefined) throw new AppError('signin.expired');
      const body = jsonBody(await readJson(ctx, { limitBytes: LIMIT_BYTES }));
      csrf.verify(ctx, purposeOf(who), body.get('csrf'));
      if (who.isFresh) ctx.body = await act(ctx, who, body);
      else {
        ctx.status = 403;
        ctx.body = { error: 'access_denied', reason: 'auth.stale', redirect: confirmUrl(who.account) };
      }
    });
  }

  const begin = async (_ctx: Koa.Context, who: SignedIn<A>, _body: JsonBody): Promise<object> =>
    passkeys.begin({ account: who.account, boundTo: boundTo(who) });

  async function finish(ctx: Koa.Context, who: SignedIn<A>, { response }: JsonBody): Promise<object> {
    await passkeys.add(ctx, who, { boundTo: boundTo(who), response });
    return { redirect: `${home}?notice=added` };
  }

  const rename = (ctx: Koa.Context, who: SignedIn<A>): Promise<void> =>
    change(ctx, who, async (form) => {
      await passkeys.rename(who.account, form.get('id') ?? '', form.get('label') ?? '');
      return 'renamed';
    });

  const remove = (ctx: Koa.Context, who: SignedIn<A>): Promise<void> =>
    change(ctx, who, async (form) => {
      await passkeys.remove(ctx, who, form.get('id') ?? '');
      return 'removed';
    });

  type Handle = (ctx: Koa.Context, who: SignedIn<A> | undefined) => Promise<void> | void;
  const answer = (handle: Handle) => async (ctx: Koa.Context) => {
    ctx.set('Cache-Control', 'no-store');
    return handle(ctx, await signedIn(ctx));
  };
  const forSignedIn = (handle: (ctx: Koa.Context, who: SignedIn<A>) => Promise<void>) =>
    answer((ctx, who) => (who === undefined ? goTo(ctx, signInUrl()) : handle(ctx, who)));

  const router = createRouter();
  router.get('/account/passkeys', forSignedIn(show));
  router.post('/account/passkeys/rename', forSignedIn(rename));
  router.post('/account/passkeys/remove', forSignedIn(remove));
  router.post(
    '/account/passkeys/register/begin',
    answer((ctx, who) => ceremony(ctx, who, begin)),
  );
  router.post(
    '/account/passkeys/register/finish',
    answer((ctx, who) => ceremony(ctx, who, finish)),
  );
  return router.middleware;
}
