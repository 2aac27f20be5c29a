// The step of a sign-in that sets up a second factor: an authenticator app, or a passkey beside it (its ceremony is
// passkeys.ts), or codes by mail. The page says who wants it.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import type { Form } from '../src/http/index.ts';
import { ACR } from '../src/model/acr.ts';
import { amrOf } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import { toQrDataUri } from '../src/second-factors/index.ts';
import type { AtHand } from './at-hand.ts';
import { pageOptions } from './page-options.ts';
import { requiredBy } from './required-by.ts';
import { ALERTS, clientNameOf, goToStep } from './second-factor-methods.ts';

interface Shown {
  readonly alert?: string;
  readonly status?: number;
}

export function createFactorEnrolment(
  hand: AtHand,
  canUseEmail: (account: Account, interaction: BoundInteraction) => boolean,
) {
  const { views, current, steps, basePath, secondFactors, passkeys, mode, mfaMode } = hand;
  const { totp } = secondFactors;

  /** Beside the app wherever passkeys are used at all; before it where this browser has said that it can create one. */
  const passkeyHere = ({ canPasskey }: BoundInteraction): 'first' | 'also' | undefined => {
    if (mode() === 'password') return undefined;
    return canPasskey === true ? 'first' : 'also';
  };

  async function show(ctx: Koa.Context, interaction: BoundInteraction, account: Account, shown: Shown) {
    const progress = interaction.progress;
    if (progress === undefined) throw new AppError('signin.expired');
    const known = progress.pending === undefined ? undefined : totp.reopen(account, progress.pending);
    const enrolment = known ?? totp.begin(account);
    if (known === undefined) {
      interaction.progress = { ...progress, pending: enrolment.pending };
      await interaction.persist();
    }
    views.send(
      ctx,
      'mfa-enrol',
      {
        ...current.formFields(ctx, interaction),
        clientName: await clientNameOf(hand, interaction),
        requiredBy: requiredBy(interaction, {
          mfaMode: mfaMode(),
          isReset: account.mustEnrolSecondFactor === true,
          isDemanded: steps.demandOf(interaction, account) === ACR.multiFactor,
        }),
        passkey: passkeyHere(interaction),
        signals: passkeys.signals(account),
        qr: await toQrDataUri(enrolment.uri),
        secret: enrolment.secret.replace(/(.{4})(?=.)/g, '$1 '),
        otpauthUri: enrolment.uri,
        canUseEmail: canUseEmail(account, interaction),
        alert: shown.alert === undefined ? undefined : { key: shown.alert },
      },
      { ...pageOptions(interaction), status: shown.status },
    );
  }

  async function enrolApp(ctx: Koa.Context, interaction: BoundInteraction, form: Form): Promise<void> {
    const { progress, account } = await steps.resume(interaction);
    if (progress.pending === undefined) return show(ctx, interaction, account, {});
    const isByOldWays = steps.isByOldWays(interaction, account);
    const code = form.get('code') ?? '';
    const outcome = await secondFactors.enrolTotpAtSignIn(account, progress.pending, code, isByOldWays);
    if (outcome === 'expired') {
      const { pending: _, ...rest } = progress;
      interaction.progress = rest;
    }
    if (outcome !== 'ok') return show(ctx, interaction, account, { alert: ALERTS[outcome], status: 401 });
    const times = steps.timesOf(interaction, account, { methods: ['totp'] });
    const amr = [...progress.amr, ...amrOf('totp')];
    interaction.progress = { accountId: account.id, amr, times, step: 'new_codes' };
    await interaction.persist();
    goToStep(ctx, basePath, interaction);
  }

  return { show, enrolApp };
}
