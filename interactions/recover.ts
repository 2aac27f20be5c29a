// For users who lost all passkeys: a recovery code allows one thing, creating a new passkey.
import type Koa from 'koa';
import { AppError } from '../src/errors.ts';
import { type Form, passSpentLimit } from '../src/http/index.ts';
import { RECOVERY_AMR } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { Recovery } from '../src/recovery/index.ts';
import type { AuthMode } from '../src/settings/index.ts';
import type { Views } from '../src/views/index.ts';
import type { CurrentInteraction } from './current.ts';
import { ofKnownBrowser } from './holders.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { PROMPTS } from './login.ts';
import { pageOptions } from './page-options.ts';
import type { SigninSteps } from './signin-steps.ts';

interface Deps {
  readonly views: Views;
  readonly current: CurrentInteraction;
  readonly steps: SigninSteps;
  readonly readForm: (ctx: Koa.Context) => Promise<Form>;
  readonly mode: () => AuthMode;
  readonly recovery: Pick<Recovery, 'useRecoveryCode' | 'knownIn'>;
  readonly knownBrowsers: Pick<KnownBrowsers, 'fromBrowser' | 'isKnown'>;
}

export interface RecoverPage {
  show(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context): Promise<void>;
}

export function createRecoverPage(deps: Deps): RecoverPage {
  const { views, current, steps, readForm, mode, recovery, knownBrowsers } = deps;

  function send(
    ctx: Koa.Context,
    interaction: BoundInteraction,
    shown: { username?: string; alert?: string; status?: number },
  ): void {
    views.send(
      ctx,
      'recover',
      {
        ...current.formFields(ctx, interaction),
        values: { username: shown.username ?? '' },
        alert: shown.alert === undefined ? undefined : { key: shown.alert },
        backUrl: current.pageUrl('login', interaction),
      },
      { ...pageOptions(interaction), status: shown.status },
    );
  }

  function refuseWhenOff(interaction: BoundInteraction): void {
    if (mode() === 'password') throw new AppError('request.not_found');
    if (!PROMPTS.has(interaction.prompt.name)) throw new AppError('signin.expired');
  }

  return {
    async show(ctx) {
      const interaction = await current.ofAddress(ctx);
      refuseWhenOff(interaction);
      send(ctx, interaction, {});
    },
    async submit(ctx) {
      const form = await readForm(ctx);
      const interaction = await current.ofForm(ctx, form);
      refuseWhenOff(interaction);
      const username = form.get('username') ?? '';
      const code = form.get('code') ?? '';
      await passSpentLimit(ctx, async () =>
        ofKnownBrowser(await recovery.knownIn(username, knownBrowsers.fromBrowser(ctx).tokens)),
      );
      const attempt = { username, code, boundTo: interaction.uid };
      const account = await recovery.useRecoveryCode(attempt, ctx.ip, (found) =>
        knownBrowsers.isKnown(ctx, found),
      );
      if (account !== undefined)
        return steps.proceed(ctx, interaction, account, { amr: RECOVERY_AMR, methods: ['recovery'] });
      return send(ctx, interaction, { username, alert: 'alert.recovery_failed', status: 401 });
    },
  };
}
