// /account: the user's profile, the protection of the account, its sessions, devices and applications, and the
// actions that end them. The password and the second factor have pages of their own.

import type Koa from 'koa';
import type { Form } from '../http/index.ts';
import type { PageModels } from '../views/index.ts';
import type { Acts } from './acts.ts';
import { glanceOf } from './glance.ts';
import {
  type Alerts,
  looksOf,
  ownerOf,
  type PageKit,
  type Problem,
  type SelfServiceUser,
} from './page-kit.ts';

type Model = PageModels['account'];

type Notice = NonNullable<Model['notice']>;

const NOTICES: readonly Notice[] = [
  'session_ended',
  'sessions_ended',
  'device_forgotten',
  'devices_forgotten',
  'application_removed',
  'verification_sent',
  'password_changed',
  'password_set',
  'profile_changed',
];

const ALERTS: Alerts = {
  'session.not_found': 'alert.session_gone',
  'request.not_found': 'alert.device_gone',
  'grant.not_found': 'alert.application_gone',
  'request.rate_limited': 'alert.rate_limited',
  'request.invalid': 'alert.verification_needless',
  'account.email_frozen': 'alert.email_frozen',
  'mail.off': 'alert.mail_off',
};

/** How long the owner sees a warning about guessed passwords. */
const GUESSED_MS = 7 * 86_400_000;

export function createHomePage(kit: PageKit, acts: Acts) {
  const { now, overview, deletion, isKnownBrowser, passkeys } = acts;

  function guessesOf(ctx: Koa.Context, { account }: SelfServiceUser): Model['guesses'] {
    const { guessedAt: at } = account;
    if (at === undefined || at <= now() - GUESSED_MS) return undefined;
    return { at, isThisBrowserKnown: isKnownBrowser(ctx, account) };
  }

  async function show(ctx: Koa.Context, who: SelfServiceUser, problem?: Problem): Promise<void> {
    const { account } = who;
    const { facts, ...rest } = await overview.all(who, ctx.query.activity === 'all');
    const hasEmail = account.email !== undefined;
    kit.views.send(
      ctx,
      'account',
      {
        csrf: kit.token(ctx, who),
        account: {
          ...ownerOf(who),
          email: account.email,
          isEmailVerified: hasEmail && account.isEmailVerified,
        },
        now: now(),
        confirmUrl: kit.confirmUrlOf(who, 'home'),
        glance: glanceOf(facts),
        codesLeft: facts.codesLeft,
        guesses: guessesOf(ctx, who),
        canDelete: deletion.isAllowed(),
        // Here, too: after a new name, and after an administrator removed a passkey.
        signals: passkeys.signals(account),
        notice: kit.noticeOf(ctx, NOTICES),
        alert: problem && { key: problem.alert },
        retryAfterSeconds: problem?.retryAfterSeconds,
        ...rest,
      },
      looksOf(who, problem?.status),
    );
  }

  const act =
    (notice: Notice, run: (who: SelfServiceUser, form: Form, ctx: Koa.Context) => Promise<void>) =>
    (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'home',
        alerts: ALERTS,
        async act(form) {
          await run(who, form, ctx);
          return notice;
        },
        showAgain: (problem) => show(ctx, who, problem),
      });

  const idOf = (form: Form): string => form.get('id') ?? '';

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),
    endSession: act('session_ended', (who, form) => acts.endSession(who, idOf(form))),
    endOtherSessions: act('sessions_ended', (who, _form, ctx) => acts.endOtherSessions(who, ctx)),
    forgetDevice: act('device_forgotten', (who, form) => acts.forgetDevice(who, idOf(form))),
    forgetDevices: act('devices_forgotten', (who) => acts.forgetDevices(who)),
    removeApplication: act('application_removed', (who, form) => acts.removeApplication(who, idOf(form))),
    sendVerification: act('verification_sent', (who) => acts.sendVerification(who)),
  };
}
