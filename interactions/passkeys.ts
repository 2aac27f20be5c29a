// Passkey ceremonies during a sign-in (decision 0001), as JSON for the page's script. signin-steps.ts decides the next step, as
// after every other method.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import { AppError } from '../src/errors.ts';
import {
  answerJson,
  answerWithRedirect,
  type JsonBody,
  jsonBody,
  passSpentLimit,
  readJson,
} from '../src/http/index.ts';
import { amrOfPasskey, TWO_FACTORS, wayOfPasskey } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { AtHand } from './at-hand.ts';
import { ofPasskey, ofSignIn } from './holders.ts';
import { PROMPTS } from './login.ts';
import { unspentMethods } from './second-factor-methods.ts';

export interface PasskeyCeremonies {
  beginSignIn(ctx: Koa.Context): Promise<void>;
  finishSignIn(ctx: Koa.Context): Promise<void>;
  beginRegistration(ctx: Koa.Context): Promise<void>;
  finishRegistration(ctx: Koa.Context): Promise<void>;
}

/** Far above the size of any legitimate authenticator response. */
const LIMIT_BYTES = 48 * 1024;

export function createPasskeyCeremonies(hand: AtHand): PasskeyCeremonies {
  const { current, steps, passkeys, mode, secondFactors, accounts, basePath, clock } = hand;
  const boundTo = ({ uid }: BoundInteraction): string => `interaction ${uid}`;

  async function read(ctx: Koa.Context): Promise<{ interaction: BoundInteraction; body: JsonBody }> {
    const body = jsonBody(await readJson(ctx, { limitBytes: LIMIT_BYTES }));
    return { interaction: await current.ofForm(ctx, body), body };
  }

  /** The account whose second step this is; undefined in a sign-in by passkey, which accepts any account's. */
  async function ownerOf(interaction: BoundInteraction, body: JsonBody): Promise<Account | undefined> {
    if (body.get('purpose') !== 'second_factor') {
      if (mode() === 'password') throw new AppError('passkey.off');
      if (!PROMPTS.has(interaction.prompt.name)) throw new AppError('signin.expired');
      return undefined;
    }
    const { progress, account } = await steps.resume(interaction);
    const methods = unspentMethods(secondFactors.methodsOf(account), progress.amr);
    if (progress.step !== 'verify' || !methods.includes('passkey')) throw new AppError('signin.expired');
    return account;
  }

  async function making(interaction: BoundInteraction) {
    const { progress, account } = await steps.resume(interaction);
    const isBesideApp = progress.step === 'enrol' && mode() !== 'password';
    if (progress.step !== 'passkey' && progress.step !== 'offer' && !isBesideApp)
      throw new AppError('signin.expired');
    return { progress, account };
  }

  return {
    beginSignIn: (ctx) =>
      answerJson(ctx, async () => {
        const { interaction, body } = await read(ctx);
        const account = await ownerOf(interaction, body);
        ctx.body = await passkeys.beginAuthentication({
          boundTo: boundTo(interaction),
          ...(account && { account }),
        });
      }),

    finishSignIn: (ctx) =>
      answerJson(
        ctx,
        async () => {
          const { interaction, body } = await read(ctx);
          const account = await ownerOf(interaction, body);
          const { response } = body;
          await passSpentLimit(ctx, () =>
            account === undefined ? ofPasskey(ctx, response) : ofSignIn(account, interaction),
          );
          const provenAt = clock();
          if (account === undefined) interaction.isRemembered = body.get('remember') === 'on';
          const input = { boundTo: boundTo(interaction), response, ...(account && { account }) };
          const used = await passkeys.finishAuthentication(input);
          const amr = amrOfPasskey(used);
          const methods = [wayOfPasskey(used)];
          if (account === undefined)
            await steps.proceed(ctx, interaction, used.account, { amr, methods, provenAt });
          else {
            // Possession besides knowledge are two factors already; user verification adds no third.
            const both = new Set([...(interaction.progress?.amr ?? []), ...amr, ...TWO_FACTORS]);
            const authentication = { amr: [...both], methods, provenAt: interaction.provenAt };
            await steps.proceed(ctx, interaction, used.account, authentication);
          }
          answerWithRedirect(ctx);
        },
        { rp_id: passkeys.rpId },
      ),

    beginRegistration: (ctx) =>
      answerJson(ctx, async () => {
        const { interaction, body } = await read(ctx);
        const { progress, account } = await making(interaction);
        ctx.body = await passkeys.beginRegistration({
          boundTo: boundTo(interaction),
          account,
          isConditional: progress.step === 'offer' && body.get('mediation') === 'conditional',
          // It will be the only way to sign in, or the two factors that are asked for.
          needsUserVerification: progress.step !== 'offer',
        });
      }),

    finishRegistration: (ctx) =>
      answerJson(ctx, async () => {
        const { interaction, body } = await read(ctx);
        const { progress, account } = await making(interaction);
        const { response } = body;
        await passSpentLimit(ctx, () => ofSignIn(account, interaction));
        const made = await passkeys.add({
          boundTo: boundTo(interaction),
          response,
          accountId: account.id,
          isByOldWays: steps.isByOldWays(interaction, account),
        });
        const fresh = await accounts.findUsable(account.id);
        if (fresh === undefined) throw new AppError('signin.expired');
        const amr = progress.step === 'offer' ? progress.amr : [...progress.amr, ...amrOfPasskey(made)];
        // At an offer what the sign-in reached stays (`amr`); but who was verified a moment ago is not asked who they are. One that
        // was made without a prompt has verified nobody.
        const isProof = progress.step !== 'offer' || made.isUserVerified;
        const methods = isProof ? [wayOfPasskey(made)] : [];
        const { provenAt } = interaction;
        // As after an authenticator app: a second step that is lost must not be the end of the account.
        const isOnlySecondStep = progress.step === 'enrol' && !fresh.recoveryCodes?.length;
        if (isOnlySecondStep || (progress.step === 'passkey' && passkeys.needsCodes(fresh))) {
          const times = steps.timesOf(interaction, fresh, { methods, provenAt });
          interaction.progress = { accountId: fresh.id, amr, times, step: 'new_codes' };
          await interaction.persist();
          ctx.redirect(`${basePath}/oauth2/mfa?interaction=${encodeURIComponent(interaction.uid)}`);
        } else await steps.proceed(ctx, interaction, fresh, { amr, methods, provenAt });
        answerWithRedirect(ctx);
      }),
  };
}
