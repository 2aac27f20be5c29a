import type Koa from 'koa';
import { type Account, hasPasskey } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import { readForm } from '../src/http/index.ts';
import { amrOf, TWO_FACTORS } from '../src/model/ways-to-sign-in.ts';
import { type BoundInteraction, clientRecord } from '../src/oidc/sign-in.ts';
import type { SendOptions } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import type { Authentication } from './authentication.ts';
import { createConfirmedAct } from './confirmed-act.ts';
import { CANCELLED } from './current.ts';
import { ANOTHER, pageOptions, stringParameter } from './page-options.ts';
import { personOf } from './person.ts';
import { personHinted, type RememberedPerson } from './remembered-people.ts';
import { temporaryProblem } from './temporary-problem.ts';

/** The ways that take along what was typed, and where they lead. */
const WAYS: Readonly<Record<string, string>> = { forgot: '', magic_link: '&action=magic_link' };
const MAX_LOGIN = 320;

/** A failed attempt, to render the form again. */
interface Attempt {
  readonly username: string;
  readonly alert: string;
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
}

/** The prompts that our sign-in pages handle; other prompts are later steps. */
export const PROMPTS = new Set(['login', 'select_account', 'create']);

export interface LoginPage {
  show(ctx: Koa.Context, interaction: BoundInteraction, attempt?: Attempt): Promise<void>;
  /** GET: the page again, without the offered account. */
  again(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context): Promise<void>;
}

export function createLoginPage(hand: AtHand): LoginPage {
  const { findClient, views, current, accounts, authenticate, steps, mode, browsers, recovery } = hand;
  const confirmedAct = createConfirmedAct(hand);

  async function send(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account | undefined,
    attempt: Attempt | undefined,
    isChosen = false,
  ): Promise<void> {
    const loginUrl = current.pageUrl('login', interaction);
    const people = attempt === undefined ? await offered(ctx, interaction, account, isChosen) : [];
    const canPasskey = mode() !== 'password' && !isAfterKey(interaction);
    const canContinue = interaction.prompt.name === 'select_account' && !isAfterKey(interaction);
    const client = await findClient(String(interaction.params.client_id));
    const canSignUp = client !== undefined && hand.registration.signUp.isOpen(clientRecord(client));
    // With an account the address of its request shows it again; without one it would start another sign-in.
    const here = account === undefined ? loginUrl : undefined;
    // Whose sign-in it is is settled: they have an account.
    const isKnown = account !== undefined && !canContinue && !isChosen;
    const isConfirming = isKnown && !isAfterKey(interaction);
    const options: SendOptions = { ...pageOptions(interaction), status: attempt?.status ?? 200, here };
    views.send(
      ctx,
      'login',
      {
        ...current.formFields(ctx, interaction),
        clientName: client?.clientName ?? client?.clientId,
        values: { username: attempt?.username ?? nameFor(ctx, interaction) },
        alert: attempt && { key: attempt.alert },
        retryAfterSeconds: attempt?.retryAfterSeconds,
        canCancel: true,
        mode: mode(),
        canPasskey,
        first: account && !isChosen && hasPasskey(account) ? 'passkey' : hand.lastMethod.read(ctx),
        recoverUrl: mode() === 'passkey_only' ? current.pageUrl('recover', interaction) : undefined,
        canReset: recovery.canResetPassword(),
        canMagicLink: recovery.canUseMagicLinks(),
        signUpUrl: canSignUp && !isKnown ? current.pageUrl('signup', interaction) : undefined,
        people: people.map(({ handle, account: person }) => ({
          ...personOf(person),
          handle,
          url: `${loginUrl}&as=${handle}`,
        })),
        otherUrl: `${loginUrl}&as=${ANOTHER}`,
        canRemember: account === undefined,
        ...(account && {
          account: personOf(account),
          canContinue: canContinue && !isChosen,
          isConfirming,
          confirming: isConfirming ? await confirmedAct(ctx, interaction) : undefined,
          switchUrl: loginUrl,
        }),
      },
      options,
    );
  }

  /** The password completes a passkey without user verification. */
  const isAfterKey = ({ progress }: BoundInteraction): boolean => progress?.step === 'password';

  /** Whom the page offers by name beside the account it is about; once chosen, or when someone else is meant, none. */
  async function offered(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: Account | undefined,
    isChosen: boolean,
  ): Promise<readonly RememberedPerson[]> {
    const isMeant = account === undefined && typedOrHinted(interaction) !== '';
    const isConfirming = account !== undefined && interaction.prompt.name !== 'select_account';
    if (isChosen || isMeant || isConfirming || ctx.query.as === ANOTHER || isAfterKey(interaction)) return [];
    return (await hand.people.list(ctx)).filter(({ account: { id } }) => id !== account?.id);
  }

  /** Of the people remembered here, whom the address or the application's hint names. */
  async function chosenHere(ctx: Koa.Context, interaction: BoundInteraction): Promise<Account | undefined> {
    const { as } = ctx.query;
    const hint = stringParameter(interaction, 'login_hint');
    if (as === ANOTHER || (as === undefined && (hint === undefined || interaction.typedLogin !== undefined)))
      return undefined;
    const people = await hand.people.list(ctx);
    if (as === undefined) return personHinted(people, hint ?? '')?.account;
    return people.find(({ handle }) => handle === as)?.account;
  }

  const typedOrHinted = (interaction: BoundInteraction): string =>
    interaction.typedLogin ?? stringParameter(interaction, 'login_hint') ?? '';

  /** Who is not the one that the page was about starts with an empty field. */
  const nameFor = (ctx: Koa.Context, interaction: BoundInteraction): string =>
    ctx.query.as === ANOTHER ? '' : typedOrHinted(interaction);

  /** What was typed goes along in the sign-in, not in an address: logs and histories keep those. */
  async function goAnotherWay(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    username: string,
    way: string,
  ): Promise<void> {
    if ((username !== '' && username !== interaction.typedLogin) || interaction.isRemembered === true) {
      interaction.typedLogin = username.slice(0, MAX_LOGIN);
      await interaction.persist();
    }
    ctx.status = 303;
    const id = encodeURIComponent(interaction.uid);
    ctx.redirect(`${hand.basePath}/oauth2/forgot-password?interaction=${id}${way}`);
  }

  /** The signed-in person who is asked again, also after a failed attempt, as long as nobody else was typed. */
  async function confirmedBy(interaction: BoundInteraction, username: string): Promise<Account | undefined> {
    const { session, prompt } = interaction;
    if (session === undefined || prompt.name === 'select_account') return undefined;
    const account = await accounts.find(session.accountId);
    return account?.username === username ? account : undefined;
  }

  /** Adds the password to an earlier authentication of the same user. */
  function authenticationBy(
    interaction: BoundInteraction,
    account: Account & { readonly provenAt: number },
  ): Authentication {
    const { progress, provenAt } = interaction;
    const methods = ['password'] as const;
    const isSame = isAfterKey(interaction) && progress?.accountId === account.id;
    // Not the current time: the password may have been changed since it was checked.
    if (!isSame) return { amr: amrOf('password'), methods, provenAt: account.provenAt };
    return { amr: [...progress.amr, ...amrOf('password'), ...TWO_FACTORS], methods, provenAt };
  }

  /** The signed-in user chose to continue with this account (OIDC Core §3.1.2.1 `select_account`). */
  async function continueWithSession(ctx: Koa.Context, interaction: BoundInteraction): Promise<void> {
    // The library checks when it resumes the interaction whether the session still belongs to this user.
    if (interaction.prompt.name !== 'select_account' || interaction.session === undefined) {
      throw new AppError('signin.expired');
    }
    await current.finishStep(ctx, interaction, { select_account: {} });
  }

  return {
    async show(ctx, interaction, attempt) {
      const raised = await steps.canStepUp(ctx, interaction);
      if (raised !== undefined) {
        const { account, amr } = raised;
        return steps.proceed(ctx, interaction, account, { amr, methods: [] });
      }
      const known = interaction.session?.accountId;
      const account = known === undefined ? undefined : await accounts.find(known);
      const chosen = account === undefined ? await chosenHere(ctx, interaction) : undefined;
      await send(ctx, interaction, account ?? chosen, attempt, chosen !== undefined);
    },

    async again(ctx) {
      const interaction = await current.ofAddress(ctx);
      if (!PROMPTS.has(interaction.prompt.name)) throw new AppError('signin.expired');
      const { progress } = interaction;
      const account =
        progress && isAfterKey(interaction) ? await accounts.find(progress.accountId) : undefined;
      const chosen = account === undefined ? await chosenHere(ctx, interaction) : undefined;
      await send(ctx, interaction, account ?? chosen, undefined, chosen !== undefined);
    },

    async submit(ctx) {
      const form = await readForm(ctx);
      const interaction = await current.ofForm(ctx, form);
      // The back button can bring back the form of an earlier step, which is already finished.
      if (!PROMPTS.has(interaction.prompt.name)) throw new AppError('signin.expired');
      if (form.get('action') === 'cancel') return current.finishStep(ctx, interaction, CANCELLED);
      if (form.get('action') === 'continue') return continueWithSession(ctx, interaction);
      const forgotten = form.get('forget');
      if (forgotten !== undefined) {
        hand.people.forget(ctx, forgotten);
        ctx.status = 303;
        return ctx.redirect(current.pageUrl('login', interaction));
      }
      const username = form.get('username') ?? '';
      interaction.isRemembered = form.get('remember') === 'on';
      const way = WAYS[form.get('action') ?? ''];
      if (way !== undefined) return goAnotherWay(ctx, interaction, username, way);
      if (mode() === 'passkey_only') {
        return send(ctx, interaction, undefined, { username, alert: 'alert.password_off', status: 403 });
      }
      interaction.canPasskey = form.get('can_passkey') === 'on';
      try {
        const account = await authenticate(username, form.get('password') ?? '', browsers.fromBrowser(ctx));
        if (account !== undefined) {
          // The second step says whom it is about.
          interaction.typedLogin = username.slice(0, MAX_LOGIN);
          await steps.proceed(ctx, interaction, account, authenticationBy(interaction, account));
          if (interaction.progress === undefined || (await browsers.isUnchanged(account))) return;
          // A new password overtook this one: what follows must not build on it.
          interaction.progress = undefined;
          await interaction.persist();
          throw new AppError('signin.expired');
        }
        return await send(ctx, interaction, await confirmedBy(interaction, username), {
          username,
          alert: 'alert.signin_failed',
          status: 401,
        });
      } catch (error) {
        const problem = temporaryProblem(error);
        if (problem === undefined) throw error;
        ctx.set('Retry-After', String(problem.retryAfterSeconds));
        const confirmed = await confirmedBy(interaction, username);
        return send(ctx, interaction, confirmed, { username, ...problem });
      }
    },
  };
}
