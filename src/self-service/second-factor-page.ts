// /account/second-factor: users enable, replace and disable their authenticator app, disable codes by mail, and
// create new recovery codes. Every action requires authentication within the last five minutes, of the highest class
// that the account can reach.

import type Koa from 'koa';
import { AppError } from '../errors.ts';
import type { Form } from '../http/index.ts';
import { memberOf } from '../json.ts';
import { toQrDataUri } from '../second-factors/index.ts';
import type { PageModels } from '../views/index.ts';
import type { Acts } from './acts.ts';
import {
  type Alerts,
  looksOf,
  ownerOf,
  type PageKit,
  type Problem,
  type SelfServiceUser,
} from './page-kit.ts';

type Enrolment = ReturnType<Acts['secondFactor']['begin']>;
type Notice = NonNullable<PageModels['account-second-factor']['notice']>;
const NOTICES: readonly Notice[] = ['app_on', 'app_replaced', 'app_off', 'email_on', 'email_off'];

const CODES = '/account/second-factor/codes';

const ALERTS: Alerts = {
  'mfa.required': 'alert.factor_required',
  'mfa.email_off': 'alert.email_codes_off',
  'mfa.none': 'alert.no_factor',
  'request.rate_limited': 'alert.rate_limited',
};

export function createSecondFactorPage(kit: PageKit, { secondFactor, now }: Acts) {
  const { isOff, state } = secondFactor;

  function refuseWhenOff(): void {
    if (isOff()) throw new AppError('mfa.off');
  }

  async function show(ctx: Koa.Context, who: SelfServiceUser, problem?: Problem): Promise<void> {
    kit.views.send(
      ctx,
      'account-second-factor',
      {
        csrf: kit.token(ctx, who),
        account: ownerOf(who),
        now: now(),
        confirmUrl: kit.confirmUrlOf(who, 'second-factor'),
        isOff: isOff(),
        isRequired: secondFactor.isRequired(),
        ...state(who),
        notice: kit.noticeOf(ctx, NOTICES),
        alert: problem && { key: problem.alert },
      },
      looksOf(who, problem?.status),
    );
  }

  async function showApp(ctx: Koa.Context, who: SelfServiceUser, enrolment: Enrolment, problem?: Problem) {
    const { secret, uri, pending } = enrolment;
    kit.views.send(
      ctx,
      'account-app',
      {
        // Bound to this secret in this session, so that an attacker cannot substitute another one.
        csrf: kit.token(ctx, who, pending),
        account: ownerOf(who),
        pending,
        isReplacing: who.account.totp !== undefined,
        qr: await toQrDataUri(uri),
        secret: secret.replace(/(.{4})(?=.)/g, '$1 '),
        otpauthUri: uri,
        alert: problem && { key: problem.alert },
      },
      looksOf(who, problem?.status),
    );
  }

  const act =
    (run: (ctx: Koa.Context, who: SelfServiceUser, form: Form) => Promise<Notice | undefined>) =>
    (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'second-factor',
        alerts: ALERTS,
        act: (form) => run(ctx, who, form),
        showAgain: (problem) => show(ctx, who, problem),
      });

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),

    async showApp(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      refuseWhenOff();
      if (!who.isFresh) return kit.confirm(ctx, who, 'second-factor');
      await showApp(ctx, who, secondFactor.begin(who));
    },

    async confirmApp(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      refuseWhenOff();
      await kit.change(ctx, who, {
        page: 'second-factor',
        about: (form) => form.get('pending') ?? '',
        alerts: ALERTS,
        async act(form) {
          const pending = form.get('pending') ?? '';
          const outcome = await secondFactor.confirm(ctx, who, pending, form.get('code') ?? '');
          if (outcome === 'wrong' || outcome === 'expired') {
            const known = outcome === 'wrong' ? secondFactor.reopen(who, pending) : undefined;
            const alert = known === undefined ? 'alert.enrolment_expired' : 'alert.code_wrong';
            await showApp(ctx, who, known ?? secondFactor.begin(who), { alert, status: known ? 401 : 409 });
            return undefined;
          }
          if (outcome.codes === undefined) return who.account.totp === undefined ? 'app_on' : 'app_replaced';
          await kit.goOnce(ctx, who, CODES, { codes: outcome.codes });
          return undefined;
        },
        showAgain: (problem) => show(ctx, who, problem),
      });
    },

    removeApp: act(async (ctx, who) => {
      refuseWhenOff();
      await secondFactor.removeApp(ctx, who);
      return 'app_off';
    }),

    addEmail: act(async (ctx, who) => {
      refuseWhenOff();
      const codes = await secondFactor.addEmail(ctx, who);
      if (codes === undefined) return 'email_on';
      await kit.goOnce(ctx, who, CODES, { codes });
      return undefined;
    }),

    removeEmail: act(async (ctx, who) => {
      refuseWhenOff();
      await secondFactor.removeEmail(ctx, who);
      return 'email_off';
    }),

    createCodes: act(async (ctx, who) => {
      await kit.goOnce(ctx, who, CODES, { codes: await secondFactor.createCodes(ctx, who) });
      return undefined;
    }),

    /** Shows new codes, once. */
    async showCodes(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      const codes = memberOf(await kit.once(ctx, who), 'codes');
      if (!Array.isArray(codes)) return kit.goTo(ctx, kit.urlOf('second-factor'));
      const model = { account: ownerOf(who), codes: codes.map(String) };
      kit.views.send(ctx, 'account-recovery-codes', model, looksOf(who));
    },
  };
}
