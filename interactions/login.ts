// Owns the sign-in page with username and password.
import type Koa from 'koa';
import { AppError } from '../src/errors.ts';
import type { Form } from '../src/http/form.ts';
import type { SendOptions, Views } from '../src/http/views.ts';
import type { IdentityProvider } from '../src/oidc/identity-provider.ts';
import type { BoundInteraction } from '../src/oidc/models/interaction.ts';
import { ACR } from '../src/oidc/scopes.ts';
import type { CurrentInteraction } from './current.ts';
import { pageOptions, stringParameter } from './page-options.ts';

export interface SigninAccount {
  readonly id: string;
  readonly username: string;
}

interface Deps {
  readonly provider: () => IdentityProvider;
  readonly views: Views;
  readonly current: CurrentInteraction;
  readonly basePath: string;
  readonly readForm: (ctx: Koa.Context) => Promise<Form>;
  readonly findAccount: (id: string) => Promise<SigninAccount | undefined>;
  readonly authenticate: (username: string, password: string) => Promise<SigninAccount | undefined>;
  readonly endSession: (uid: string) => Promise<unknown>;
}

/** What a failed attempt shows again. */
interface Attempt {
  readonly username: string;
  readonly alert: string;
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
}

const PROMPTS = new Set(['login', 'select_account']);

export interface LoginPage {
  show(ctx: Koa.Context, interaction: BoundInteraction, attempt?: Attempt): Promise<void>;
  /** GET: the page again, without the offered account. */
  again(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context): Promise<void>;
}

export function createLoginPage(deps: Deps): LoginPage {
  const { provider, views, current, basePath, readForm, findAccount, authenticate, endSession } = deps;

  async function send(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: SigninAccount | undefined,
    attempt: Attempt | undefined,
  ): Promise<void> {
    const client = await provider().Client.find(String(interaction.params.client_id));
    const options: SendOptions = { ...pageOptions(interaction), status: attempt?.status ?? 200 };
    views.send(
      ctx,
      'login',
      {
        csrf: current.csrfToken(ctx, interaction),
        interaction: interaction.uid,
        clientName: client?.clientName ?? client?.clientId,
        clientLogoUri: client?.logoUri,
        values: { username: attempt?.username ?? stringParameter(interaction, 'login_hint') ?? '' },
        alert: attempt && { key: attempt.alert },
        retryAfterSeconds: attempt?.retryAfterSeconds,
        canCancel: true,
        ...(account && {
          account: { username: account.username },
          switchUrl: `${basePath}/oauth2/login?interaction=${encodeURIComponent(interaction.uid)}`,
        }),
      },
      options,
    );
  }

  async function signIn(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    account: SigninAccount,
  ): Promise<void> {
    // Another person at this browser: the session before ends with all it gave, nothing of it passes on (R060).
    if (interaction.session !== undefined && interaction.session.accountId !== account.id) {
      await endSession(interaction.session.uid);
      interaction.session = undefined;
    }
    await current.finishStep(ctx, interaction, {
      login: { accountId: account.id, amr: ['pwd'], acr: ACR.singleFactor, remember: true },
      // The account was chosen by signing in with it.
      select_account: {},
    });
  }

  return {
    async show(ctx, interaction, attempt) {
      const known = interaction.session?.accountId;
      const account = known === undefined ? undefined : await findAccount(known);
      await send(ctx, interaction, account, attempt);
    },

    async again(ctx) {
      const id = ctx.query.interaction;
      const interaction = await current.ofBrowser(ctx, typeof id === 'string' ? id : undefined);
      if (!PROMPTS.has(interaction.prompt.name)) throw new AppError('signin.expired');
      await send(ctx, interaction, undefined, undefined);
    },

    async submit(ctx) {
      const form = await readForm(ctx);
      const interaction = await current.ofForm(ctx, form);
      // A form of an earlier step, come back by the back button: that step is over.
      if (!PROMPTS.has(interaction.prompt.name)) throw new AppError('signin.expired');
      if (form.get('action') === 'cancel') {
        const description = 'The person went back instead of signing in.';
        return current.finishStep(ctx, interaction, {
          error: 'access_denied',
          error_description: description,
        });
      }
      const username = form.get('username') ?? '';
      try {
        const account = await authenticate(username, form.get('password') ?? '');
        if (account !== undefined) return await signIn(ctx, interaction, account);
        return await send(ctx, interaction, undefined, {
          username,
          alert: 'alert.signin_failed',
          status: 401,
        });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'server.busy') throw error;
        const retryAfterSeconds = error.retryAfterSeconds ?? 1;
        ctx.set('Retry-After', String(retryAfterSeconds));
        const busy = { username, alert: 'alert.busy', status: error.status, retryAfterSeconds };
        return send(ctx, interaction, undefined, busy);
      }
    },
  };
}
