// /account/passkeys: users add, rename and remove their passkeys. Reading requires a session; changes require fresh
// authentication of the highest class that the account can reach (decision 0011).

import type Koa from 'koa';
import { AppError, type ErrorCode } from '../errors.ts';
import {
  answerJson,
  createRouter,
  type Form,
  type JsonBody,
  jsonBody,
  readForm,
  readJson,
} from '../http/index.ts';
import type { PageModels } from '../views/index.ts';
import type { Acts } from './acts.ts';
import { looksOf, ownerOf, type PageKit, type SelfServiceUser } from './page-kit.ts';

type Notice = NonNullable<PageModels['account-passkeys']['notice']>;

const PATH = '/account/passkeys';
const LIMIT_BYTES = 48 * 1024;
const NOTICES: readonly Notice[] = ['added', 'renamed', 'removed', 'reported'];
/** Errors that a user can fix are shown on the page. */
const ALERTS: { readonly [Code in ErrorCode]?: string } = {
  'passkey.not_found': 'alert.passkey_gone',
  'passkey.last': 'alert.passkey_last',
  'passkey.last_admin': 'alert.passkey_last',
  'request.invalid': 'alert.passkey_name',
};

export function accountPasskeys(kit: PageKit, { passkeys }: Acts): Koa.Middleware {
  const { views, forms, signedIn, told, goTo } = kit;
  const confirmUrl = (who: SelfServiceUser): string => kit.confirmUrl(who.account, 'passkeys');
  const home = kit.urlOf('passkeys');
  const purposeOf = ({ sessionUid }: SelfServiceUser): string => `account:${sessionUid}`;
  const boundTo = ({ sessionUid }: SelfServiceUser): string => `session ${sessionUid}`;

  const toldAt = (ctx: Koa.Context, notice: Notice): string =>
    `${kit.basePath}${told.addressOf(ctx, PATH, 'notice', notice)}`;

  async function show(ctx: Koa.Context, who: SelfServiceUser, alert?: { key: string; status: number }) {
    const all = await passkeys.list(who.account);
    const notice = told.read(ctx, ctx.query.notice);
    views.send(
      ctx,
      'account-passkeys',
      {
        csrf: forms.token(ctx, who.account.id, purposeOf(who)),
        account: ownerOf(who),
        passkeys: all.map(({ kind, counterWentBackAt, ...passkey }) => ({
          ...passkey,
          isSecurityKey: kind === 'security_key',
          isSuspicious: counterWentBackAt !== undefined,
        })),
        confirmUrl: kit.confirmUrlOf(who, 'passkeys'),
        notice: NOTICES.find((name) => name === notice),
        alert: alert && { key: alert.key },
        signals: passkeys.signals(who.account),
      },
      looksOf(who, alert?.status),
    );
  }

  async function change(ctx: Koa.Context, who: SelfServiceUser, act: (form: Form) => Promise<Notice>) {
    const form = await readForm(ctx);
    const isEarlier = forms.verify(ctx, who.account.id, purposeOf(who), form) === 'earlier';
    if (isEarlier || !who.isFresh) {
      await forms.keep(ctx, who.account.id, form);
      return goTo(ctx, isEarlier ? home : confirmUrl(who));
    }
    try {
      const notice = await act(form);
      return goTo(ctx, toldAt(ctx, notice));
    } catch (error) {
      const key = error instanceof AppError ? ALERTS[error.code] : undefined;
      if (!(error instanceof AppError) || key === undefined) throw error;
      return show(ctx, who, { key, status: error.status });
    }
  }

  async function ceremony(
    ctx: Koa.Context,
    who: SelfServiceUser | undefined,
    act: typeof begin,
  ): Promise<void> {
    await answerJson(ctx, async () => {
      if (who === undefined) throw new AppError('signin.expired');
      const body = jsonBody(await readJson(ctx, { limitBytes: LIMIT_BYTES }));
      forms.verifyCurrent(ctx, purposeOf(who), body.get('csrf'));
      if (who.isFresh) ctx.body = await act(ctx, who, body);
      else {
        ctx.status = 403;
        ctx.body = { error: 'access_denied', reason: 'auth.stale', redirect: confirmUrl(who) };
      }
    });
  }

  const begin = async (_ctx: Koa.Context, who: SelfServiceUser, _body: JsonBody): Promise<object> =>
    passkeys.begin(who.account, boundTo(who));

  async function finish(ctx: Koa.Context, who: SelfServiceUser, { response }: JsonBody): Promise<object> {
    await passkeys.add(ctx, who, { boundTo: boundTo(who), response });
    return { redirect: toldAt(ctx, 'added') };
  }

  const rename = (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
    change(ctx, who, async (form) => {
      await passkeys.rename(who.account, form.get('id') ?? '', form.get('label') ?? '');
      return 'renamed';
    });

  const remove = (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
    change(ctx, who, async (form) => {
      await passkeys.remove(ctx, who, form.get('id') ?? '');
      return 'removed';
    });

  type Handle = (ctx: Koa.Context, who: SelfServiceUser | undefined) => Promise<void> | void;
  const answer = (handle: Handle) => async (ctx: Koa.Context) => {
    ctx.set('Cache-Control', 'no-store');
    return handle(ctx, await signedIn(ctx));
  };
  const forSignedIn = (handle: (ctx: Koa.Context, who: SelfServiceUser) => Promise<void>) =>
    answer((ctx, who) => (who === undefined ? goTo(ctx, kit.signInUrl('passkeys')) : handle(ctx, who)));

  const router = createRouter();
  router.get(
    '/account/passkeys',
    forSignedIn(async (ctx, who) => {
      await show(ctx, who);
      await forms.fill(ctx, who.account.id, 'passkeys');
    }),
  );
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
