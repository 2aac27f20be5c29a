// Pages only: which of them is next is decided in signin-steps.ts, whether a code matches in src/second-factors.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import { type Form, passSpentLimit, readForm } from '../src/http/index.ts';
import {
  amrOf,
  isCodeFactor,
  isSecondFactor,
  type SecondFactor,
  wayOf,
} from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction, SigninProgress } from '../src/oidc/sign-in.ts';
import { emailCooldownSeconds } from '../src/second-factors/index.ts';
import type { AtHand } from './at-hand.ts';
import { CANCELLED } from './current.ts';
import { createFactorEnrolment } from './factor-enrolment.ts';
import { ofSignIn } from './holders.ts';
import { knownPerson } from './known-person.ts';
import { createLeavingStep } from './leaving.ts';
import { maskEmail } from './mask-email.ts';
import { ANOTHER, pageOptions } from './page-options.ts';
import { createPasskeySteps } from './passkey-pages.ts';
import { createMethodChoice } from './second-factor-choice.ts';
import { ALERTS, clientNameOf, goToStep } from './second-factor-methods.ts';

export interface SecondFactorPages {
  /** GET /oauth2/mfa: the page of the current step of the interaction, regardless of the address. */
  show(ctx: Koa.Context): Promise<void>;
  /** POST /oauth2/mfa */
  submit(ctx: Koa.Context): Promise<void>;
  /** POST /oauth2/mfa/email */
  sendEmail(ctx: Koa.Context): Promise<void>;
}

interface Shown {
  readonly alert?: string;
  readonly status?: number;
  readonly method?: SecondFactor | undefined;
}

export function createSecondFactorPages(hand: AtHand): SecondFactorPages {
  const { views, current, steps, basePath, clock, secondFactors, browsers } = hand;
  const { methodsOf, canUseEmail } = createMethodChoice(hand);
  const enrolment = createFactorEnrolment(hand, canUseEmail);
  const passkeySteps = createPasskeySteps(hand);
  const leaving = createLeavingStep(hand);

  async function mailCode(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    progress: SigninProgress,
  ): Promise<void> {
    const outcome = await secondFactors.mailCode(account, interaction.uid, browsers.digestOf(ctx, account));
    interaction.progress = outcome === 'sent' ? { ...progress, mailedAt: clock() } : progress;
    await interaction.persist();
    if (outcome !== 'limited') return goToStep(ctx, basePath, interaction, 'email');
    return showCode(ctx, interaction, account, { alert: ALERTS.blocked, status: 429, method: 'email' });
  }

  async function showCode(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    shown: Shown,
  ): Promise<void> {
    const methods = methodsOf(account, interaction);
    const [first] = methods;
    if (first === undefined) throw new AppError('signin.no_factor');
    const method = shown.method !== undefined && methods.includes(shown.method) ? shown.method : first;
    const { mailedAt } = interaction.progress ?? {};
    const left = mailedAt === undefined ? 0 : emailCooldownSeconds(mailedAt, clock());
    views.send(
      ctx,
      'mfa',
      {
        ...current.formFields(ctx, interaction),
        clientName: await clientNameOf(hand, interaction),
        account: await knownPerson(hand.people, ctx, interaction, account),
        switchUrl: `${current.pageUrl('login', interaction)}&as=${ANOTHER}`,
        methods,
        method,
        sentTo: method === 'email' && mailedAt !== undefined ? maskEmail(account.email ?? '') : undefined,
        canTrust: account.role === 'user',
        trustDays: hand.trustDays(),
        resendInSeconds: left,
        isCodeSpent: shown.alert === ALERTS.expired,
        alert: shown.alert === undefined ? undefined : { key: shown.alert },
      },
      { ...pageOptions(interaction), status: shown.status },
    );
  }

  async function verifyCode(ctx: Koa.Context, interaction: BoundInteraction, form: Form): Promise<void> {
    const { progress, account } = await steps.resume(interaction);
    const [method, code] = [form.get('method'), form.get('code') ?? ''];
    // An empty form or a method that the account does not have is not an attempt (Kratos CVE-2024-45042).
    if (!isCodeFactor(method) || !methodsOf(account, interaction).includes(method) || code === '') {
      return showCode(ctx, interaction, account, { alert: ALERTS.wrong, status: 401, method: undefined });
    }
    const attempt = { method, boundTo: interaction.uid, code, browser: browsers.digestOf(ctx, account) };
    const verdict = await secondFactors.verifyAtSignIn(account, attempt);
    if (verdict !== 'ok') {
      const status = verdict === 'blocked' ? 429 : 401;
      return showCode(ctx, interaction, account, { alert: ALERTS[verdict], status, method });
    }
    if (form.get('trust_device') === 'on' && account.role === 'user') await hand.trust(ctx, account);
    const way = wayOf[method];
    const amr = [...progress.amr, ...amrOf(way)];
    const { provenAt } = interaction;
    await steps.proceed(ctx, interaction, account, { amr, methods: [way], provenAt });
  }

  /** Uses e-mail codes instead of an authenticator app: the first code is sent now, and the sign-in continues with it. */
  async function enrolEmail(ctx: Koa.Context, interaction: BoundInteraction): Promise<void> {
    const { progress, account } = await steps.resume(interaction);
    if (!canUseEmail(account, interaction)) return enrolment.show(ctx, interaction, account, { status: 400 });
    const isByOldWays = steps.isByOldWays(interaction, account);
    const fresh = await secondFactors.enrolEmailAtSignIn(account.id, isByOldWays);
    if (fresh === undefined) throw new AppError('signin.expired');
    const { amr, times = {} } = progress;
    await mailCode(ctx, interaction, fresh, { accountId: fresh.id, amr, times, step: 'verify' });
  }

  async function showCodes(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    { amr, times = {} }: Pick<SigninProgress, 'amr' | 'times'>,
  ): Promise<void> {
    const isByOldWays = steps.isByOldWays(interaction, account);
    const codes = await secondFactors.recoveryCodes.generate(account.id, isByOldWays);
    interaction.progress = { accountId: account.id, amr, times, step: 'codes' };
    await interaction.persist();
    views.send(
      ctx,
      'recovery-codes',
      { ...current.formFields(ctx, interaction), codes },
      pageOptions(interaction),
    );
  }

  const turnPage = (
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    { amr }: SigninProgress,
  ): Promise<void> =>
    steps.proceed(ctx, interaction, account, { amr, methods: [], provenAt: interaction.provenAt });

  return {
    async show(ctx) {
      const { interaction: id, method } = ctx.query;
      const interaction = await current.ofBrowser(ctx, typeof id === 'string' ? id : undefined);
      const { progress, account } = await steps.resume(interaction);
      switch (progress.step) {
        case 'verify':
          return showCode(ctx, interaction, account, { method: isSecondFactor(method) ? method : undefined });
        case 'enrol':
          return enrolment.show(ctx, interaction, account, {});
        case 'new_codes':
          return showCodes(ctx, interaction, account, progress);
        case 'codes':
          // They are shown once; opening the page again continues.
          return turnPage(ctx, interaction, account, progress);
        case 'leaving':
          return leaving.show(ctx, interaction, account, progress);
        case 'password':
          return ctx.redirect(current.pageUrl('login', interaction));
        case 'passkey':
        case 'offer':
          return passkeySteps.show(ctx, interaction, account, progress.step);
      }
    },

    async submit(ctx) {
      const form = await readForm(ctx);
      const interaction = await current.ofForm(ctx, form);
      const { progress, account } = await steps.resume(interaction);
      await passSpentLimit(ctx, () => ofSignIn(account, interaction));
      if (form.get('action') === 'cancel') return current.finishStep(ctx, interaction, CANCELLED);
      switch (progress.step) {
        case 'verify':
          // The enrolment page once more, by the back button: that is done.
          if (form.get('action') === 'email') return goToStep(ctx, basePath, interaction, 'email');
          return verifyCode(ctx, interaction, form);
        case 'enrol':
          if (form.get('action') === 'email') return enrolEmail(ctx, interaction);
          return enrolment.enrolApp(ctx, interaction, form);
        case 'codes':
          return turnPage(ctx, interaction, account, progress);
        case 'leaving':
          return leaving.keep(ctx, interaction, account, progress);
        case 'offer':
          return passkeySteps.decline(ctx, interaction, account);
        case 'new_codes':
          return goToStep(ctx, basePath, interaction);
        case 'password':
        case 'passkey':
          throw new AppError('signin.expired');
      }
    },

    async sendEmail(ctx) {
      const form = await readForm(ctx);
      const interaction = await current.ofForm(ctx, form);
      const { progress, account } = await steps.resume(interaction);
      if (progress.step !== 'verify' || !methodsOf(account, interaction).includes('email'))
        throw new AppError('signin.expired');
      await mailCode(ctx, interaction, account, progress);
    },
  };
}
