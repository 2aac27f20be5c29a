// For users who lost all passkeys: a recovery code allows one thing, creating a new passkey.
import type Koa from 'koa';
import { AppError } from '../src/errors.ts';
import { passSpentLimit, readForm } from '../src/http/index.ts';
import { RECOVERY_AMR } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';
import { ofKnownBrowser } from './holders.ts';
import { PROMPTS } from './login.ts';
import { pageOptions } from './page-options.ts';

export interface RecoverPage {
  show(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context): Promise<void>;
}

export function createRecoverPage(hand: AtHand): RecoverPage {
  const { views, current, steps, mode, recovery, browsers } = hand;

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
        ofKnownBrowser(await recovery.knownIn(username, browsers.fromBrowser(ctx).tokens)),
      );
      const attempt = { username, code, boundTo: interaction.uid };
      const account = await recovery.useRecoveryCode(attempt, ctx.ip, (found) =>
        browsers.isKnown(ctx, found),
      );
      if (account !== undefined)
        return steps.proceed(ctx, interaction, account, { amr: RECOVERY_AMR, methods: ['recovery'] });
      return send(ctx, interaction, { username, alert: 'alert.recovery_failed', status: 401 });
    },
  };
}
