// Sign-up while signing in to an application: the form, and the code that verifies the address. No page reveals whether an
// address has an account: every address gets an e-mail, which says so if it has one.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import { type Form, passSpentLimit, readForm } from '../src/http/index.ts';
import { amrOf } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { SignupQuestions, SignupValues } from '../src/registration/index.ts';
import type { FieldErrors } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import type { Authentication } from './authentication.ts';
import { clientIdOf, pageOptions, stringParameter } from './page-options.ts';
import { requesterOf } from './requester.ts';
import { errorsOf, readSignup } from './signup-form.ts';
import { temporaryProblem } from './temporary-problem.ts';

interface Attempt {
  readonly values: SignupValues;
  readonly errors: FieldErrors;
  readonly alert?: string | undefined;
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
}

export interface SignupPages {
  show(ctx: Koa.Context, interaction: BoundInteraction): Promise<void>;
  /** GET: the page again. */
  again(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context, form: Form): Promise<void>;
  showCode(ctx: Koa.Context): Promise<void>;
  submitCode(ctx: Koa.Context): Promise<void>;
  resend(ctx: Koa.Context): Promise<void>;
}

/** The user has just chosen the password, so it counts; without one nothing is authenticated yet. */
export const signupAuthentication = ({
  isPasswordAsked,
}: SignupQuestions): Pick<Authentication, 'amr' | 'methods'> =>
  isPasswordAsked ? { amr: amrOf('password'), methods: ['password'] } : { amr: [], methods: [] };

const PROMPTS = new Set(['login', 'select_account', 'create']);

export function createSignupPages(hand: AtHand): SignupPages {
  const { findClient, views, current, steps } = hand;
  const { signUp: signup } = hand.registration;

  /** @throws AppError signin.expired for another step's form, signup.closed */
  async function check(interaction: BoundInteraction): Promise<BoundInteraction> {
    if (!PROMPTS.has(interaction.prompt.name)) throw new AppError('signin.expired');
    if (!(await signup.isOpenFor(clientIdOf(interaction)))) throw new AppError('signup.closed');
    return interaction;
  }

  async function send(ctx: Koa.Context, interaction: BoundInteraction, attempt?: Attempt): Promise<void> {
    const client = await findClient(clientIdOf(interaction));
    const hint = stringParameter(interaction, 'login_hint') ?? '';
    const hinted: SignupValues = hint.includes('@') ? { email: hint } : { username: hint };
    if (attempt?.retryAfterSeconds) ctx.set('Retry-After', String(attempt.retryAfterSeconds));
    views.send(
      ctx,
      'signup',
      {
        ...current.formFields(ctx, interaction),
        clientName: client?.clientName ?? client?.clientId,
        questions: signup.questions(),
        values: attempt?.values ?? hinted,
        errors: attempt?.errors ?? {},
        alert: attempt?.alert,
        retryAfterSeconds: attempt?.retryAfterSeconds,
        signInUrl: current.pageUrl('login', interaction),
      },
      {
        ...pageOptions(interaction),
        status: attempt?.status ?? 200,
        here: current.pageUrl('signup', interaction),
      },
    );
  }

  function goToCode(ctx: Koa.Context, interaction: BoundInteraction): void {
    ctx.status = 303;
    ctx.redirect(current.pageUrl('signup/verify', interaction));
  }

  function goToForm(ctx: Koa.Context, interaction: BoundInteraction): void {
    ctx.status = 303;
    ctx.redirect(current.pageUrl('signup', interaction));
  }

  const proceed = (ctx: Koa.Context, interaction: BoundInteraction, account: Account): Promise<void> =>
    steps.proceed(ctx, interaction, account, signupAuthentication(signup.questions()));

  async function sendCode(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    shown: { alert?: string; status?: number; retryAfterSeconds?: number },
  ): Promise<void> {
    const pending = await signup.pending(interaction.uid);
    if (pending === undefined) return goToForm(ctx, interaction);
    if (shown.retryAfterSeconds) ctx.set('Retry-After', String(shown.retryAfterSeconds));
    views.send(
      ctx,
      'signup-verify',
      {
        ...current.formFields(ctx, interaction),
        email: pending.email,
        resendInSeconds: pending.resendInSeconds,
        canSkip: pending.canSkip,
        alert: shown.alert,
        retryAfterSeconds: shown.retryAfterSeconds,
        signupUrl: current.pageUrl('signup', interaction),
      },
      {
        ...pageOptions(interaction),
        status: shown.status ?? 200,
        here: current.pageUrl('signup/verify', interaction),
      },
    );
  }

  return {
    async show(ctx, interaction) {
      await send(ctx, await check(interaction));
    },

    async again(ctx) {
      await send(ctx, await check(await current.ofAddress(ctx)));
    },

    async submit(ctx, form) {
      await passSpentLimit(ctx, () => undefined);
      const interaction = await check(await current.ofForm(ctx, form));
      interaction.canPasskey = form.get('can_passkey') === 'on';
      const { answers, errors } = readSignup(form, signup.questions());
      const { values } = answers;
      if (Object.keys(errors).length > 0) return send(ctx, interaction, { values, errors, status: 400 });
      try {
        const clientId = clientIdOf(interaction);
        const account = await signup.begin(
          { interaction: interaction.uid, clientId, answers },
          requesterOf(ctx),
        );
        return account === undefined ? goToCode(ctx, interaction) : await proceed(ctx, interaction, account);
      } catch (error) {
        const wait = temporaryProblem(error);
        if (wait !== undefined) return send(ctx, interaction, { values, errors: {}, ...wait });
        // The page says so, and has no form.
        if (error instanceof AppError && error.code === 'mail.off')
          return send(ctx, interaction, { values, errors: {}, status: error.status });
        return send(ctx, interaction, { values, errors: errorsOf(error), status: 400 });
      }
    },

    async showCode(ctx) {
      await sendCode(ctx, await check(await current.ofAddress(ctx)), {});
    },

    async submitCode(ctx) {
      const form = await readForm(ctx);
      const interaction = await check(await current.ofForm(ctx, form));
      interaction.canPasskey = form.get('can_passkey') === 'on';
      const one = { interaction: interaction.uid, clientId: clientIdOf(interaction) };
      try {
        if (form.get('action') === 'skip') {
          const account = await signup.skip(one);
          return account === undefined
            ? goToForm(ctx, interaction)
            : await proceed(ctx, interaction, account);
        }
        const code = form.get('code') ?? '';
        // An empty form is not an attempt (R096).
        if (code === '') return await sendCode(ctx, interaction, { alert: 'alert.code_wrong', status: 400 });
        const outcome = await signup.confirm({ ...one, code, ipAddress: ctx.ip });
        if (typeof outcome !== 'string') return await proceed(ctx, interaction, outcome);
        return await sendCode(ctx, interaction, { alert: `alert.code_${outcome}`, status: 401 });
      } catch (error) {
        const wait = temporaryProblem(error);
        if (wait !== undefined) return sendCode(ctx, interaction, wait);
        // The username was taken in the meantime.
        return send(ctx, interaction, { values: {}, errors: errorsOf(error), status: 400 });
      }
    },

    async resend(ctx) {
      const form = await readForm(ctx);
      const interaction = await check(await current.ofForm(ctx, form));
      try {
        await signup.resend(interaction.uid, requesterOf(ctx));
      } catch (error) {
        const wait = temporaryProblem(error);
        if (wait === undefined) throw error;
        return sendCode(ctx, interaction, wait);
      }
      goToCode(ctx, interaction);
    },
  };
}
