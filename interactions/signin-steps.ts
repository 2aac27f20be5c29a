// Owns the order of a sign-in after its first factor: what is asked next follows from the account, the settings and what
// was asked for, all read afresh, and from the progress that the interaction keeps. Only when nothing is missing does the
// interaction get its result, which is all that the library will sign in by; so no address leads past a step.
import type Koa from 'koa';
import {
  type MethodTimes,
  mergeMethodTimes,
  newestOf,
  type ProofMethod,
  stampMethods,
} from '../src/accounts/freshness.ts';
import type { Account, ReportSignIn } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import { acrOf } from '../src/oidc/acr.ts';
import type { BoundInteraction, SigninProgress } from '../src/oidc/models/interaction.ts';
import { ACR } from '../src/oidc/scopes.ts';
import type { AuthMode } from '../src/settings/auth-mode.ts';
import { type AcrDemand, type AcrDemandDeps, createAcrDemand } from './acr-demand.ts';
import type { CurrentInteraction } from './current.ts';
import { stringParameter } from './page-options.ts';
import { reportOfCompletion, reportOfStep } from './sign-in-report.ts';

/** What a sign-in has come to by one more step of it. */
export interface Proof {
  /** All that it consists of now (RFC 8176). */
  readonly amr: readonly string[];
  /** What was authenticated in this step; none: a page was turned. */
  readonly methods: readonly ProofMethod[];
  /**
   * Epoch milliseconds of the sign-in's first proof; default: now. A change of the account since then makes all of it
   * worth nothing.
   */
  readonly provenAt?: number | undefined;
}

export interface SigninSteps extends Pick<AcrDemand, 'demandOf' | 'canMeet'> {
  /** Goes on after something was proven; ends the sign-in when nothing is missing. */
  proceed(ctx: Koa.Context, interaction: BoundInteraction, account: Account, proof: Proof): Promise<void>;
  /** What was authenticated in this interaction so far, with what has been just now. */
  timesOf(
    interaction: BoundInteraction,
    account: Account,
    proof: Pick<Proof, 'methods' | 'provenAt'>,
  ): MethodTimes;
  /** The progress of a sign-in whose account still may sign in. @throws AppError signin.expired */
  resume(interaction: BoundInteraction): Promise<{ progress: SigninProgress; account: Account }>;
  /**
   * Whether a session may be raised by a second factor alone, instead of a whole new sign-in: only where there is one
   * to ask for. Raising it by nothing would make it fresh for nothing.
   */
  canStepUp(
    ctx: Koa.Context,
    interaction: BoundInteraction,
  ): Promise<{ readonly account: Account; readonly amr: readonly string[] } | undefined>;
}

interface Deps extends Pick<AcrDemandDeps, 'reachableAcrs' | 'mayAdminister'> {
  readonly current: Pick<CurrentInteraction, 'finishStep' | 'pageUrl'>;
  readonly basePath: string;
  readonly mfaMode: () => 'off' | 'optional' | 'required';
  /** Usable accounts only: a lock or deactivation in the middle of a sign-in stops it at its next step (R089). */
  readonly findUsable: (id: string) => Promise<Account | undefined>;
  readonly stepOf: (account: Account, mode: 'off' | 'optional' | 'required') => 'none' | 'enrol' | 'verify';
  readonly hasFactor: (account: Account) => boolean;
  readonly now: () => number;
  readonly isTrustedDevice: (ctx: Koa.Context, account: Account) => Promise<boolean>;
  /** Sends the code where the best method is one by mail. @returns when, in epoch milliseconds */
  readonly mailFirst: (ctx: Koa.Context, account: Account, boundTo: string) => Promise<number | undefined>;
  readonly endSession: (uid: string) => Promise<unknown>;
  readonly reportSignIn: ReportSignIn;
  /** All that was asked for was given: the account knows this browser from now on. */
  readonly onComplete: (ctx: Koa.Context, account: Account) => Promise<unknown>;
  readonly passkeys: {
    readonly mode: () => AuthMode;
    readonly isOwnedBy: (account: Account) => boolean;
    /** What else is asked after a passkey that did not check its holder; undefined: there is nothing. */
    readonly stepAfterKey: (account: Account) => 'verify' | 'password' | undefined;
    /** Whether this person said "not now" in this browser. */
    readonly isOfferDeclined: (ctx: Koa.Context, account: Account) => boolean;
  };
}

const SECOND_FACTORS = new Set(['otp', 'mfa']);
/** RFC 8176: a passkey on one device, and one that is synced. */
const PASSKEYS = new Set(['hwk', 'swk']);
/**
 * First proofs that are there to make a passkey and are worth nothing else: an unused recovery code, and an
 * administrator's one-time link to enrol (not one of RFC 8176's values, none of which says that).
 */
const ENROLMENT = new Set(['recovery_code', 'enrolment_link']);
const STEP_UP_REASONS = new Set([
  'second_factor',
  'essential_acr',
  'essential_acrs',
  'demanded_acr',
  'admin_scope',
  'owed_second_step',
]);

export function createSigninSteps(deps: Deps): SigninSteps {
  const { current, basePath, mfaMode, findUsable, stepOf, hasFactor, isTrustedDevice, endSession } = deps;
  const { passkeys } = deps;
  const { demandOf, canMeet, isStrong } = createAcrDemand(deps);

  const isAmong = (amr: readonly string[], values: ReadonlySet<string>): boolean =>
    amr.some((method) => values.has(method));

  function mustMakePasskey(account: Account, amr: readonly string[]): boolean {
    if (isAmong(amr, PASSKEYS)) return false;
    if (isAmong(amr, ENROLMENT)) return true;
    return passkeys.mode() === 'passkey_only' && !passkeys.isOwnedBy(account);
  }

  /** After a password alone it would be one factor that adds another, where the account has a stronger one (R098). */
  function isOfferDue(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    amr: readonly string[],
  ): boolean {
    const isStrongest = !hasFactor(account) || isAmong(amr, SECOND_FACTORS);
    return (
      passkeys.mode() === 'password_and_passkey' &&
      interaction.canPasskey === true &&
      amr.includes('pwd') &&
      isStrongest &&
      !passkeys.isOwnedBy(account) &&
      !passkeys.isOfferDeclined(ctx, account)
    );
  }

  async function missingStep(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    amr: readonly string[],
  ): Promise<Exclude<SigninProgress['step'], 'codes' | 'new_codes'> | 'trusted' | undefined> {
    const factor = await missingFactor(ctx, interaction, account, amr);
    const isToMake = mustMakePasskey(account, amr);
    // A passkey that checks its holder is a second factor as well: nobody need set up another first, and nobody can show
    // one that is lost. Where there is a code to ask for, it is (R098).
    if (isToMake) {
      const hasCode = passkeys.stepAfterKey(account) === 'verify';
      return factor === 'verify' && hasCode ? 'verify' : 'passkey';
    }
    if (factor !== undefined && factor !== 'trusted') return factor;
    return isOfferDue(ctx, interaction, account, amr) ? 'offer' : factor;
  }

  /** @returns `trusted`: none, because this device stands for it */
  async function missingFactor(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account,
    amr: readonly string[],
  ): Promise<'verify' | 'enrol' | 'password' | 'trusted' | undefined> {
    if (amr.includes('mfa')) return undefined;
    const hasCode = amr.includes('otp');
    if (isAmong(amr, PASSKEYS)) {
      if (hasCode) return undefined;
      // R106: whoever found the key would be in, so something else is always asked, whatever the settings say.
      const step = passkeys.stepAfterKey(account);
      if (step === undefined) throw new AppError('passkey.unverified');
      return step;
    }
    const demand = demandOf(interaction, account);
    if (demand === ACR.multiFactor) {
      if (isStrong(account)) return 'verify';
      // A mailed code is what there is: it is given before a stronger factor is added to it (R098).
      return hasFactor(account) && !hasCode ? 'verify' : 'enrol';
    }
    if (hasCode) return undefined;
    const step = stepOf(account, mfaMode());
    if (step === 'none') return demand === undefined ? undefined : 'verify';
    // R101: a trusted device stands for the second factor at an ordinary sign-in of an ordinary account, no more.
    const mayBeTrusted = step === 'verify' && demand === undefined && account.role === 'user';
    return mayBeTrusted && (await isTrustedDevice(ctx, account)) ? 'trusted' : step;
  }

  function timesOf(
    { progress }: BoundInteraction,
    account: Account,
    { methods, provenAt }: Pick<Proof, 'methods' | 'provenAt'>,
  ): MethodTimes {
    const before = progress?.accountId === account.id ? (progress.times ?? {}) : {};
    const isFirst = newestOf(before) === undefined;
    const at = Math.min(deps.now(), isFirst ? (provenAt ?? Number.POSITIVE_INFINITY) : deps.now());
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
    // Decisions §8: a session changes only by what was authenticated in this interaction. Where that is nothing there is
    // no result that the library could take for a sign-in.
    const ts = newestOf(times);
    if (ts === undefined) throw new AppError('signin.expired');
    await deps.onComplete(ctx, account);
    await deps.reportSignIn(reportOfCompletion(interaction, account.id, amr, times));
    // Another person at this browser: the session before ends with all it gave, nothing of it passes on (R060).
    if (interaction.session !== undefined && interaction.session.accountId !== account.id) {
      await endSession(interaction.session.uid);
      interaction.session = undefined;
    }
    interaction.progress = undefined;
    const login = { accountId: account.id, amr: [...amr], acr: acrOf(amr), remember: true };
    await current.finishStep(ctx, interaction, {
      // OIDC Core §2: auth_time is when the person authenticated, not when the browser came back.
      login: { ...login, ts, methodTimes: isByTrust ? { ...times, trusted_device: ts } : times },
      // The account was chosen by signing in with it.
      select_account: {},
      // Or made for it, or had all along (prompt=create).
      create: {},
    });
  }

  return {
    timesOf,
    demandOf,
    canMeet,

    async proceed(ctx, interaction, account, { methods, provenAt, ...proof }) {
      const amr = [...new Set(proof.amr)];
      const times = timesOf(interaction, account, { methods, provenAt });
      if (provenAt === undefined) delete interaction.provenAt;
      else interaction.provenAt = provenAt;
      const step = await missingStep(ctx, interaction, account, amr);
      if (step === undefined || step === 'trusted')
        return complete(ctx, interaction, account, amr, times, step === 'trusted');
      const report = reportOfStep(interaction, account.id, { amr, methods }, step);
      if (report !== undefined) await deps.reportSignIn(report);
      // After a link to the mailbox a code to it would be the same factor again, so none is sent.
      const mayMail =
        step === 'verify' &&
        !amr.includes('email_link') &&
        demandOf(interaction, account) !== ACR.multiFactor;
      const mailedAt = mayMail ? await deps.mailFirst(ctx, account, interaction.uid) : undefined;
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
      const account = progress && (await findUsable(progress.accountId));
      if (progress === undefined || account === undefined) throw new AppError('signin.expired');
      // Enrolled meanwhile in another browser: the password alone must not replace that factor (R098). To codes by mail,
      // once one was given, a stronger factor may be added.
      const isAdding = progress.amr.includes('otp') && !isStrong(account);
      if (progress.step === 'enrol' && hasFactor(account) && !isAdding) throw new AppError('signin.expired');
      const isToMake = progress.step === 'passkey' && !isAmong(progress.amr, ENROLMENT);
      if (isToMake && passkeys.isOwnedBy(account)) throw new AppError('signin.expired');
      return { progress, account };
    },

    async canStepUp(ctx, interaction) {
      const { session, prompt } = interaction;
      const isStepUp =
        prompt.name === 'login' && prompt.reasons.every((reason) => STEP_UP_REASONS.has(reason));
      const { amr = [] } = session ?? {};
      if (!isStepUp || session === undefined || amr.length === 0) return undefined;
      if (stringParameter(interaction, 'prompt') !== undefined) return undefined;
      const account = await findUsable(session.accountId);
      // Enrolling is for who has just given the password: an old session alone must not add a factor (R098).
      if (account === undefined || !hasFactor(account)) return undefined;
      return (await missingFactor(ctx, interaction, account, amr)) === 'verify'
        ? { account, amr }
        : undefined;
    },
  };
}
