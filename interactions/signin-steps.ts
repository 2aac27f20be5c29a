// The order of a sign-in after its first factor. The next step follows from the account, the settings and the request, read on
// every step, and from the progress stored in the interaction. The interaction gets its result, without which the library
// signs no one in, only when no step is missing; so no address can skip a step.
import type Koa from 'koa';
import { type Account, hasPasskey, hasSecondFactor, isLeaving } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import { newId } from '../src/ids.ts';
import { ACR } from '../src/model/acr.ts';
import { isBy } from '../src/model/ways-to-sign-in.ts';
import {
  type AcrDemand,
  acrOf,
  type BoundInteraction,
  createAcrDemand,
  type SigninProgress,
} from '../src/oidc/sign-in.ts';
import { type MethodTimes, mergeMethodTimes, newestOf, stampMethods } from '../src/sessions/index.ts';
import type { Authentication } from './authentication.ts';
import type { CurrentInteraction } from './current.ts';
import type { InteractionDoors } from './doors.ts';
import { stringParameter } from './page-options.ts';
import type { SignInParts } from './sign-in-parts.ts';
import { reportOfCompletion, reportOfStep } from './sign-in-report.ts';

export interface SigninSteps extends Pick<AcrDemand, 'demandOf' | 'canMeet'> {
  /** Continues after an authentication; completes the sign-in when no step is missing. */
  proceed(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    authentication: Authentication,
  ): Promise<void>;
  /** The time of each method used in this interaction, including this step. */
  timesOf(
    interaction: BoundInteraction,
    account: Account,
    authentication: Pick<Authentication, 'methods' | 'provenAt'>,
  ): MethodTimes;
  /** Whether what is made in it outlives the stop of a change of address (src/accounts/address-change.ts). */
  isByOldWays(interaction: BoundInteraction, account: Account): boolean;
  /** The progress of a sign-in whose account is still usable. @throws AppError signin.expired */
  resume(interaction: BoundInteraction): Promise<{ progress: SigninProgress; account: Account }>;
  /**
   * Whether a session can be stepped up by a second factor alone, instead of a new sign-in: only if the account has one.
   * Otherwise the session would become fresh without any authentication.
   */
  canStepUp(
    ctx: Koa.Context,
    interaction: BoundInteraction,
  ): Promise<{ readonly account: Account; readonly amr: readonly string[] } | undefined>;
}

const STEP_UP_REASONS = new Set([
  'second_factor',
  'essential_acr',
  'essential_acrs',
  'demanded_acr',
  'admin_scope',
  'owed_second_step',
]);

export function createSigninSteps(
  doors: InteractionDoors,
  parts: SignInParts,
  current: CurrentInteraction,
): SigninSteps {
  const { basePath, clock, accounts, secondFactors, sessions, passkeys, reportSignIn } = doors;
  const { mode, mfaMode, isTrustedDevice } = parts;
  const { demandOf, canMeet, isStrong } = createAcrDemand(doors);

  function mustCreatePasskey(account: Account, amr: readonly string[]): boolean {
    if (isBy.passkey(amr)) return false;
    if (isBy.enrolment(amr)) return true;
    return mode() === 'passkey_only' && !hasPasskey(account);
  }

  /** Not after a password alone if the account has a stronger factor: a password must not add a factor (R098). */
  function isOfferDue(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    amr: readonly string[],
  ): boolean {
    const isStrongest = !hasSecondFactor(account) || isBy.secondStep(amr);
    return (
      mode() === 'password_and_passkey' &&
      interaction.canPasskey === true &&
      isBy.password(amr) &&
      isStrongest &&
      !hasPasskey(account) &&
      !parts.isOfferDeclined(ctx, account)
    );
  }

  async function missingStep(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    amr: readonly string[],
  ): Promise<Exclude<SigninProgress['step'], 'codes' | 'new_codes'> | 'trusted' | undefined> {
    const factor = await missingFactor(ctx, interaction, account, amr);
    const mustCreate = mustCreatePasskey(account, amr);
    // A passkey with user verification is a second factor too, so no other one must be set up first, and a lost one is not
    // requested. If the account has a code, it is requested (R098).
    if (mustCreate) {
      const hasCode = passkeys.stepAfterKey(account) === 'verify';
      return factor === 'verify' && hasCode ? 'verify' : 'passkey';
    }
    if (factor !== undefined && factor !== 'trusted') return factor;
    // After all of them: it undoes the deletion.
    if (isLeaving(account)) return 'leaving';
    return isOfferDue(ctx, interaction, account, amr) ? 'offer' : factor;
  }

  /** @returns `trusted`: none, because this device is trusted */
  async function missingFactor(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    amr: readonly string[],
  ): Promise<'verify' | 'enrol' | 'password' | 'trusted' | undefined> {
    if (isBy.twoFactors(amr)) return undefined;
    const hasCode = isBy.code(amr);
    if (isBy.passkey(amr)) {
      if (hasCode) return undefined;
      // R106: a found key must not be enough, so another step is always required, regardless of the settings.
      const step = passkeys.stepAfterKey(account);
      if (step === undefined) throw new AppError('passkey.unverified');
      return step;
    }
    const demand = demandOf(interaction, account);
    if (demand === ACR.multiFactor) {
      if (isStrong(account)) return 'verify';
      // An e-mail code must be entered before a stronger factor is added (R098).
      return hasSecondFactor(account) && !hasCode ? 'verify' : 'enrol';
    }
    if (hasCode) return undefined;
    const step = secondFactors.stepOf(account, mfaMode());
    if (step === 'none') return demand === undefined ? undefined : 'verify';
    // R101: a trusted device replaces the second factor only in ordinary sign-ins of ordinary accounts.
    const mayBeTrusted = step === 'verify' && demand === undefined && account.role === 'user';
    return mayBeTrusted && (await isTrustedDevice(ctx, account)) ? 'trusted' : step;
  }

  function timesOf(
    { progress }: BoundInteraction,
    account: Account,
    { methods, provenAt }: Pick<Authentication, 'methods' | 'provenAt'>,
  ): MethodTimes {
    const before = progress?.accountId === account.id ? (progress.times ?? {}) : {};
    const isFirst = newestOf(before) === undefined;
    const at = Math.min(clock(), isFirst ? (provenAt ?? Number.POSITIVE_INFINITY) : clock());
    return mergeMethodTimes(before, stampMethods(methods, at));
  }

  async function complete(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    amr: readonly string[],
    times: MethodTimes,
    isByTrust: boolean,
  ): Promise<void> {
    // Decision 0011: a session changes only by an authentication in this interaction. Without one there is no result that the
    // library could treat as a sign-in.
    const ts = newestOf(times);
    if (ts === undefined) throw new AppError('signin.expired');
    // It was offered because there was none.
    const isPasskeyNew = interaction.progress?.step === 'offer' && hasPasskey(account);
    await parts.onComplete(ctx, account, {
      amr,
      isPasskeyNew,
      isRemembered: interaction.isRemembered === true,
    });
    const known = interaction.session?.accountId === account.id ? interaction.session.uid : undefined;
    const sessionUid = known ?? newId();
    await reportSignIn(reportOfCompletion(interaction, account.id, amr, times, sessionUid));
    // Another user signed in in this browser: the earlier session and everything it issued end (R060).
    if (interaction.session !== undefined && interaction.session.accountId !== account.id) {
      await sessions.end(interaction.session.uid);
      interaction.session = undefined;
    }
    interaction.progress = undefined;
    const login = { accountId: account.id, amr: [...amr], acr: acrOf(amr), remember: true };
    await current.finishStep(ctx, interaction, {
      // OIDC Core §2: auth_time is when the user authenticated, not when the browser returned.
      login: { ...login, ts, methodTimes: isByTrust ? { ...times, trusted_device: ts } : times, sessionUid },
      // The account was chosen by signing in with it.
      select_account: {},
      // The account was created, or existed already (prompt=create).
      create: {},
    });
  }

  return {
    timesOf,
    isByOldWays: ({ progress }, account) => accounts.isByOldWays(account, progress?.times ?? {}),
    demandOf,
    canMeet,

    async proceed(ctx, interaction, account, { methods, provenAt, ...authentication }) {
      const amr = [...new Set(authentication.amr)];
      const times = timesOf(interaction, account, { methods, provenAt });
      if (provenAt === undefined) delete interaction.provenAt;
      else interaction.provenAt = provenAt;
      const step = await missingStep(ctx, interaction, account, amr);
      if (step === undefined || step === 'trusted')
        return complete(ctx, interaction, account, amr, times, step === 'trusted');
      const report = reportOfStep(interaction, account.id, { amr, methods }, step);
      if (report !== undefined) await reportSignIn(report);
      // After an e-mail link, an e-mail code would be the same factor again, so none is sent.
      const mayMail =
        step === 'verify' && !isBy.mailedLink(amr) && demandOf(interaction, account) !== ACR.multiFactor;
      const mailedAt = mayMail ? await parts.mailFirst(ctx, account, interaction.uid) : undefined;
      interaction.progress = {
        accountId: account.id,
        amr,
        times,
        step,
        ...(mailedAt === undefined ? {} : { mailedAt }),
      };
      await interaction.persist();
      ctx.status = 303;
      ctx.redirect(
        step === 'password'
          ? current.pageUrl('login', interaction)
          : `${basePath}/oauth2/mfa?interaction=${encodeURIComponent(interaction.uid)}`,
      );
    },

    async resume(interaction) {
      const { progress } = interaction;
      const account = progress && (await accounts.findUsable(progress.accountId));
      if (progress === undefined || account === undefined) throw new AppError('signin.expired');
      // If a factor was enrolled in another browser in the meantime, the password alone must not replace it (R098). After an
      // e-mail code, a stronger factor may be added.
      const isAdding = isBy.code(progress.amr) && !isStrong(account);
      if (progress.step === 'enrol' && hasSecondFactor(account) && !isAdding)
        throw new AppError('signin.expired');
      const mustCreate = progress.step === 'passkey' && !isBy.enrolment(progress.amr);
      if (mustCreate && hasPasskey(account)) throw new AppError('signin.expired');
      return { progress, account };
    },

    async canStepUp(ctx, interaction) {
      const { session, prompt } = interaction;
      const isStepUp =
        prompt.name === 'login' && prompt.reasons.every((reason) => STEP_UP_REASONS.has(reason));
      const { amr = [] } = session ?? {};
      if (!isStepUp || session === undefined || amr.length === 0) return undefined;
      if (stringParameter(interaction, 'prompt') !== undefined) return undefined;
      const account = await accounts.findUsable(session.accountId);
      // Enrolment needs a fresh password: an old session alone must not add a factor (R098).
      if (account === undefined || !hasSecondFactor(account)) return undefined;
      return (await missingFactor(ctx, interaction, account, amr)) === 'verify'
        ? { account, amr }
        : undefined;
    },
  };
}
