// /account/second-factor: users enable, replace and disable their authenticator app, disable codes by mail, and
// create new recovery codes. Every action requires authentication within the last five minutes, of the highest class
// that the account can reach (checklist R098).

import type Koa from 'koa';
import { AppError } from '../errors.ts';
import type { Form } from '../http/index.ts';
import { memberOf } from '../json.ts';
import type { PageModels } from '../views/index.ts';
import {
  type Alerts,
  looksOf,
  ownerOf,
  type PageKit,
  type Problem,
  type SelfServiceUser,
} from './page-kit.ts';

interface Enrolment {
  readonly secret: string;
  readonly uri: string;
  readonly pending: string;
}

export interface SecondFactorDeps {
  readonly kit: PageKit;
  readonly isOff: () => boolean;
  readonly isRequired: () => boolean;
  readonly qr: (text: string) => Promise<string>;
  readonly now: () => number;
  /** The factors of the account, and which of them may be removed. */
  readonly state: (
    who: SelfServiceUser,
  ) => Pick<
    PageModels['account-second-factor'],
    | 'appSince'
    | 'hasFactor'
    | 'hasEmailCodes'
    | 'canUseEmail'
    | 'codesLeft'
    | 'canRemoveApp'
    | 'canRemoveEmail'
  >;
  readonly begin: (who: SelfServiceUser) => Enrolment;
  readonly reopen: (who: SelfServiceUser, pending: string) => Enrolment | undefined;
  /**
   * Ends all other sessions; this browser continues with its current authentication.
   * @returns recovery codes if there were none; the result for a code that is not valid
   */
  readonly confirm: (
    ctx: Koa.Context,
    who: SelfServiceUser,
    pending: string,
    code: string,
  ) => Promise<{ readonly codes: readonly string[] | undefined } | 'wrong' | 'expired'>;
  /** @throws AppError mfa.required */
  readonly removeApp: (ctx: Koa.Context, who: SelfServiceUser) => Promise<void>;
  /** @returns recovery codes if there were none. @throws AppError mfa.email_off */
  readonly addEmail: (ctx: Koa.Context, who: SelfServiceUser) => Promise<readonly string[] | undefined>;
  /** @throws AppError mfa.required */
  readonly removeEmail: (ctx: Koa.Context, who: SelfServiceUser) => Promise<void>;
  /** @throws AppError mfa.none */
  readonly createCodes: (ctx: Koa.Context, who: SelfServiceUser) => Promise<readonly string[]>;
}

type Notice = NonNullable<PageModels['account-second-factor']['notice']>;
const NOTICES: readonly Notice[] = ['app_on', 'app_replaced', 'app_off', 'email_on', 'email_off'];

const CODES = '/account/second-factor/codes';

const ALERTS: Alerts = {
  'mfa.required': 'alert.factor_required',
  'mfa.email_off': 'alert.email_codes_off',
  'mfa.none': 'alert.no_factor',
  'request.rate_limited': 'alert.rate_limited',
};

export function createSecondFactorPage(deps: SecondFactorDeps) {
  const { kit, isOff, state } = deps;

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
        now: deps.now(),
        confirmUrl: kit.confirmUrlOf(who, 'second-factor'),
        isOff: isOff(),
        isRequired: deps.isRequired(),
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
        qr: await deps.qr(uri),
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
      await showApp(ctx, who, deps.begin(who));
    },

    async confirmApp(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      refuseWhenOff();
      await kit.change(ctx, who, {
        page: 'second-factor',
        about: (form) => form.get('pending') ?? '',
        alerts: ALERTS,
        async act(form) {
          const pending = form.get('pending') ?? '';
          const outcome = await deps.confirm(ctx, who, pending, form.get('code') ?? '');
          if (outcome === 'wrong' || outcome === 'expired') {
            const known = outcome === 'wrong' ? deps.reopen(who, pending) : undefined;
            const alert = known === undefined ? 'alert.enrolment_expired' : 'alert.code_wrong';
            await showApp(ctx, who, known ?? deps.begin(who), { alert, status: known ? 401 : 409 });
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
      await deps.removeApp(ctx, who);
      return 'app_off';
    }),

    addEmail: act(async (ctx, who) => {
      refuseWhenOff();
      const codes = await deps.addEmail(ctx, who);
      if (codes === undefined) return 'email_on';
      await kit.goOnce(ctx, who, CODES, { codes });
      return undefined;
    }),

    removeEmail: act(async (ctx, who) => {
      refuseWhenOff();
      await deps.removeEmail(ctx, who);
      return 'email_off';
    }),

    createCodes: act(async (ctx, who) => {
      await kit.goOnce(ctx, who, CODES, { codes: await deps.createCodes(ctx, who) });
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
