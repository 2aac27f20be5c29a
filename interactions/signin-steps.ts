// Owns the order of a sign-in after its first factor: what is asked next follows from the account, the settings and what
// was asked for, all read afresh, and from the progress that the interaction keeps. Only when nothing is missing does the
// interaction get its result, which is all that the library will sign in by; so no address leads past a step.
import type Koa from 'koa';
import { AppError } from '../src/errors.ts';
import type { BoundInteraction, SigninProgress } from '../src/oidc/models/interaction.ts';
import { ACR } from '../src/oidc/scopes.ts';
import type { CurrentInteraction } from './current.ts';
import { stringParameter } from './page-options.ts';

export type AuthMode = 'password' | 'password_and_passkey' | 'passkey_only';

export interface StepsAccount {
  readonly id: string;
  readonly username: string;
  readonly role: string;
}

export interface SigninSteps<A extends StepsAccount> {
  /** Goes on after something was proven; ends the sign-in when nothing is missing. */
  proceed(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: A,
    amr: readonly string[],
    /** Epoch milliseconds; default: now. A change of the account since then makes the proof worth nothing. */
    provenAt?: number,
  ): Promise<void>;
  /** Ends the sign-in: the interaction gets its result. */
  complete(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: A,
    amr: readonly string[],
  ): Promise<void>;
  /** The progress of a sign-in whose account still may sign in. @throws AppError signin.expired */
  resume(interaction: BoundInteraction): Promise<{ progress: SigninProgress; account: A }>;
  /** Whether a session may be raised by a second factor alone, instead of a whole new sign-in. */
  canStepUp(interaction: BoundInteraction): Promise<A | undefined>;
}

interface Deps<A extends StepsAccount> {
  readonly current: Pick<CurrentInteraction, 'finishStep' | 'pageUrl'>;
  readonly basePath: string;
  readonly mfaMode: () => 'off' | 'optional' | 'required';
  /** Usable accounts only: a lock or deactivation in the middle of a sign-in stops it at its next step (R089). */
  readonly findUsable: (id: string) => Promise<A | undefined>;
  readonly stepOf: (account: A, mode: 'off' | 'optional' | 'required') => 'none' | 'enrol' | 'verify';
  readonly hasFactor: (account: A) => boolean;
  readonly isTrustedDevice: (ctx: Koa.Context, account: A) => Promise<boolean>;
  /** Sends the code where the best method is one by mail. @returns when, in epoch milliseconds */
  readonly mailFirst: (ctx: Koa.Context, account: A, boundTo: string) => Promise<number | undefined>;
  readonly endSession: (uid: string) => Promise<unknown>;
  readonly passkeys: {
    readonly mode: () => AuthMode;
    readonly isOwnedBy: (account: A) => boolean;
    /** What else is asked after a passkey that did not check its holder; undefined: there is nothing. */
    readonly stepAfterKey: (account: A) => 'verify' | 'password' | undefined;
    /** Whether this person said "not now" in this browser. */
    readonly isOfferDeclined: (ctx: Koa.Context, account: A) => boolean;
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
const STEP_UP_REASONS = new Set(['second_factor', 'essential_acr', 'essential_acrs']);

/** @returns what the authentication was worth */
export function acrOf(amr: readonly string[]): string {
  if (amr.includes('mfa')) return ACR.multiFactor;
  return amr.includes('otp') ? ACR.emailCode : ACR.singleFactor;
}

/** Whether the application asks for two factors, by `acr_values` or by the claim `acr` (OIDC Core §5.5.1.1). */
export function wantsMultiFactor(interaction: Pick<BoundInteraction, 'params'>): boolean {
  const { acr_values: values, claims } = interaction.params;
  if (typeof values === 'string' && values.split(' ').includes(ACR.multiFactor)) return true;
  if (typeof claims !== 'string') return false;
  try {
    const acr: { value?: unknown; values?: unknown } | undefined =
      JSON.parse(claims)?.id_token?.acr ?? undefined;
    const wanted = Array.isArray(acr?.values) ? acr.values : [acr?.value];
    return wanted.includes(ACR.multiFactor);
  } catch {
    return false;
  }
}

/** Whether a code is asked for, be it by mail: as people's own pages do before an account with such codes is changed. */
const wantsCode = ({ params }: Pick<BoundInteraction, 'params'>): boolean =>
  typeof params.acr_values === 'string' && params.acr_values.split(' ').includes(ACR.emailCode);

export function createSigninSteps<A extends StepsAccount>(deps: Deps<A>): SigninSteps<A> {
  const { current, basePath, mfaMode, findUsable, stepOf, hasFactor, isTrustedDevice, endSession } = deps;
  const { passkeys } = deps;

  const isAmong = (amr: readonly string[], values: ReadonlySet<string>): boolean =>
    amr.some((method) => values.has(method));

  function mustMakePasskey(account: A, amr: readonly string[]): boolean {
    if (isAmong(amr, PASSKEYS)) return false;
    if (isAmong(amr, ENROLMENT)) return true;
    return passkeys.mode() === 'passkey_only' && !passkeys.isOwnedBy(account);
  }

  /** After a password alone it would be one factor that adds another, where the account has a stronger one (R098). */
  function isOfferDue(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: A,
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
    account: A,
    amr: readonly string[],
  ): Promise<Exclude<SigninProgress['step'], 'codes' | 'new_codes'> | undefined> {
    const factor = await missingFactor(ctx, interaction, account, amr);
    const isToMake = mustMakePasskey(account, amr);
    // A passkey that checks its holder is a second factor as well: nobody need set up another first, and nobody can show
    // one that is lost. Where there is a code to ask for, it is (R098).
    if (isToMake) {
      const hasCode = passkeys.stepAfterKey(account) === 'verify';
      return factor === 'verify' && hasCode ? 'verify' : 'passkey';
    }
    if (factor !== undefined) return factor;
    return isOfferDue(ctx, interaction, account, amr) ? 'offer' : undefined;
  }

  async function missingFactor(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: A,
    amr: readonly string[],
  ): Promise<'verify' | 'enrol' | 'password' | undefined> {
    if (isAmong(amr, SECOND_FACTORS)) return undefined;
    if (isAmong(amr, PASSKEYS)) {
      // R106: whoever found the key would be in, so something else is always asked, whatever the settings say.
      const step = passkeys.stepAfterKey(account);
      if (step === undefined) throw new AppError('passkey.unverified');
      return step;
    }
    const mode = mfaMode();
    const isDemanded = mode !== 'off' && wantsMultiFactor(interaction);
    const step = stepOf(account, mode);
    if (step === 'none') return isDemanded ? (hasFactor(account) ? 'verify' : 'enrol') : undefined;
    // R101: a trusted device stands for the second factor at an ordinary sign-in of an ordinary account, no more.
    const isOrdinary = !isDemanded && !wantsCode(interaction);
    const mayBeTrusted = step === 'verify' && isOrdinary && account.role === 'user';
    return mayBeTrusted && (await isTrustedDevice(ctx, account)) ? undefined : step;
  }

  async function complete(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: A,
    amr: readonly string[],
  ): Promise<void> {
    // Another person at this browser: the session before ends with all it gave, nothing of it passes on (R060).
    if (interaction.session !== undefined && interaction.session.accountId !== account.id) {
      await endSession(interaction.session.uid);
      interaction.session = undefined;
    }
    interaction.progress = undefined;
    await current.finishStep(ctx, interaction, {
      login: { accountId: account.id, amr: [...amr], acr: acrOf(amr), remember: true },
      // The account was chosen by signing in with it.
      select_account: {},
      // Or made for it, or had all along (prompt=create).
      create: {},
    });
  }

  return {
    complete,

    async proceed(ctx, interaction, account, amr, provenAt) {
      if (provenAt === undefined) delete interaction.provenAt;
      else interaction.provenAt = provenAt;
      const step = await missingStep(ctx, interaction, account, amr);
      if (step === undefined) return complete(ctx, interaction, account, amr);
      // After a link to the mailbox a code to it would be the same factor again, so none is sent.
      const mayMail = step === 'verify' && !amr.includes('email_link');
      const mailedAt = mayMail ? await deps.mailFirst(ctx, account, interaction.uid) : undefined;
      interaction.progress = {
        accountId: account.id,
        amr,
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
      // Enrolled meanwhile in another browser: the password alone must not replace that factor (R098).
      if (progress.step === 'enrol' && hasFactor(account)) throw new AppError('signin.expired');
      const isToMake = progress.step === 'passkey' && !isAmong(progress.amr, ENROLMENT);
      if (isToMake && passkeys.isOwnedBy(account)) throw new AppError('signin.expired');
      return { progress, account };
    },

    async canStepUp(interaction) {
      const { session, prompt } = interaction;
      const isStepUp =
        prompt.name === 'login' && prompt.reasons.every((reason) => STEP_UP_REASONS.has(reason));
      if (!isStepUp || session === undefined || stringParameter(interaction, 'prompt') !== undefined)
        return undefined;
      const account = await findUsable(session.accountId);
      // Enrolling is for who has just given the password: an old session alone must not add a factor (R098).
      return account !== undefined && hasFactor(account) ? account : undefined;
    },
  };
}
