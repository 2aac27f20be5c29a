// Owns putting together what passkeys need: the domain, what is written down of them, whom they are told to, and the rules
// of the mode in which nothing else signs in (create-app.ts builds the rest).
import { setTimeout as delay } from 'node:timers/promises';
import type Koa from 'koa';
import { createPasskeyOfferCookie } from '../../interactions/passkey-offer-cookie.ts';
import type { PasskeyDeps } from '../../interactions/routes.ts';
import type { Account, Accounts } from '../accounts/index.ts';
import { parseLoginName } from '../accounts/login-name.ts';
import { hasCodeFactor, hasPasskey } from '../accounts/security-state.ts';
import type { Audit } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Events, RecordedEvent } from '../events/index.ts';
import { deviceName } from '../http/device-name.ts';
import { reachableAcrs } from '../oidc/acr.ts';
import { ACR } from '../oidc/scopes.ts';
import type { RefusedPasskey } from '../passkeys/assertion.ts';
import { createModeGuards } from '../passkeys/passkey-only.ts';
import { createPasskeys, hasOtherWayIn } from '../passkeys/passkeys.ts';
import { keyFor, type RateLimits } from '../rate-limits/index.ts';
import { mayBeLeftWith } from '../second-factors/factor-policy.ts';
import type { AuthMode } from '../settings/auth-mode.ts';
import type { SettingValues } from '../settings/schema.ts';
import * as model from '../store/collections.ts';
import { passkeyChallenges, passkeys as passkeyCollection } from '../store/passkeys.ts';
import type { Store } from '../store/port.ts';
import type { Factors } from './factors.ts';

interface Parts {
  readonly store: Store;
  readonly baseUrl: string;
  readonly basePath: string;
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly accounts: () => Pick<Accounts, 'find' | 'findByLogin' | 'query'>;
  readonly factors: Pick<Factors, 'factors' | 'signIn' | 'tellOwnerOf'>;
  readonly audit: Pick<Audit, 'write'>;
  readonly events: Pick<Events, 'on'>;
  readonly limits: Pick<RateLimits, 'consume'>;
}

export type PasskeyApp = ReturnType<typeof createPasskeyApp>;

/** A wrong recovery code and a name that nobody has are answered after the same time. */
const RECOVERY_MS = 250;

const targetOf = (accountId: string | undefined): Pick<RecordedEvent, 'target'> =>
  accountId === undefined ? {} : { target: { kind: 'user', id: accountId } };

export function createPasskeyApp(parts: Parts) {
  const { store, baseUrl, basePath, clock, current, accounts, factors, audit, events, limits } = parts;
  const collection = store.collection(model.accounts);
  const mode = (): AuthMode => current().auth_mode;
  const passkeys = createPasskeys({
    accounts: collection,
    collection: store.collection(passkeyCollection),
    challenges: store.ephemeral(passkeyChallenges),
    clock,
    baseUrl,
    extraOrigins: () => current().passkey_extra_origins,
    rpName: () => current().product_name,
  });
  const offer = createPasskeyOfferCookie({ isSecure: baseUrl.startsWith('https:'), basePath });
  const { findUsable } = factors.signIn;

  /** What a sign-in must have come to before it may change factors; undefined: anything. */
  function strongestAcr(account: Account): string | undefined {
    const [strongest] = reachableAcrs(account, policy());
    return strongest === ACR.singleFactor ? undefined : strongest;
  }

  const policy = () => ({ mfaMode: current().mfa_mode, authMode: mode() });
  const keepEnough = (after: Readonly<model.AccountRecord>): void => {
    if (!mayBeLeftWith(after, policy())) throw new AppError('passkey.last');
  };
  const guards = createModeGuards({ accounts, mode });
  events.on('accountChangedByAdmin', async ({ after, isSecondFactorReset }) => {
    if (isSecondFactorReset) await passkeys.sweep(after.id);
  });

  async function noteRefused(
    { problem, passkeyId, accountId, isCounterBack = false }: RefusedPasskey,
    purpose: string,
  ): Promise<void> {
    const details = { purpose, problem, ...(passkeyId && { passkey_id: passkeyId }) };
    const reason = isCounterBack ? 'counter_went_back' : 'refused';
    await audit.write({ event: 'passkey.failure', reason, ...targetOf(accountId), details });
  }

  async function noteUsed(account: Account, passkeyId: string, purpose: string): Promise<void> {
    const user = { kind: 'user', id: account.id } as const;
    const details = { method: 'passkey', passkey_id: passkeyId };
    await audit.write({ event: 'passkey.used', actor: user, target: user, details: { ...details, purpose } });
    if (purpose === 'second_factor')
      await audit.write({ event: 'mfa.success', actor: user, target: user, details });
  }

  async function add(ctx: Koa.Context, input: { accountId: string; boundTo: string; response: unknown }) {
    const { accountId } = input;
    try {
      const made = await passkeys.registration.finish({
        ...input,
        label: deviceName(ctx.get('user-agent')),
      });
      const { id, label, isUserVerified } = made;
      const details = { passkey_id: id, label, is_user_verified: isUserVerified };
      await audit.write({
        event: 'passkey.added',
        actor: { kind: 'user', id: accountId },
        ...targetOf(accountId),
        details,
      });
      await factors.tellOwnerOf(ctx, accountId, 'passkey_added');
      return made;
    } catch (error) {
      const cause = error instanceof AppError && error.code === 'passkey.refused' ? error.cause : undefined;
      if (cause instanceof Error)
        await noteRefused({ accountId, problem: cause.message.slice(0, 200) }, 'registration');
      throw error;
    }
  }

  const forPages: PasskeyDeps = {
    mode,
    passkeys: {
      mode,
      isOwnedBy: hasPasskey,
      stepAfterKey(account) {
        if (hasCodeFactor(account)) return 'verify';
        return account.passwordHash !== undefined && mode() !== 'passkey_only' ? 'password' : undefined;
      },
      isOfferDeclined: offer.isDeclined,
    },
    declineOffer: offer.decline,
    passkeyParts: {
      mode,
      rpId: passkeys.rpId,
      beginUse: passkeys.assertion.begin,
      async finishUse(_ctx, input) {
        const purpose = input.account === undefined ? 'sign_in' : 'second_factor';
        const onRefused = (refused: RefusedPasskey) => noteRefused(refused, purpose);
        const used = await passkeys.assertion.finish({ ...input, onRefused });
        await noteUsed(used.account, used.id, purpose);
        return used;
      },
      beginMaking: passkeys.registration.begin,
      finishMaking: (ctx, { account, ...input }) => add(ctx, { ...input, accountId: account.id }),
      needsCodes: (account) =>
        mode() === 'passkey_only' && !hasCodeFactor(account) && !account.recoveryCodes?.length,
    },

    async recover(ctx, { username, code, boundTo }) {
      const [account] = await Promise.all([recoverWith(ctx, username, code, boundTo), delay(RECOVERY_MS)]);
      return account;
    },
  };

  async function recoverWith(ctx: Koa.Context, username: string, code: string, boundTo: string) {
    const charge = await limits.consume(
      'login_account_ip',
      keyFor(parseLoginName(username)?.key ?? '', ctx.ip),
    );
    const found = await accounts().findByLogin(username);
    const account = found && (await findUsable(found.id));
    // Who has a password that counts comes in by that: a code stands for what is lost, not for what is known.
    const isFor = account && (mode() === 'passkey_only' || account.passwordHash === undefined);
    if (account === undefined || !isFor) return undefined;
    const verdict = await factors.factors.verify({
      method: 'recovery',
      accountId: account.id,
      boundTo,
      code,
    });
    await factors.signIn.onUsed(ctx, account, verdict === 'ok' ? 'verified' : 'failed', 'recovery');
    if (verdict !== 'ok') return undefined;
    charge.giveBack();
    return findUsable(account.id);
  }

  return {
    passkeys,
    mode,
    forPages,
    add,

    async rename(account: Account, id: string, text: string): Promise<void> {
      const label = await passkeys.rename(account, id, text);
      await audit.write({
        event: 'passkey.renamed',
        actor: { kind: 'user', id: account.id },
        ...targetOf(account.id),
        details: { passkey_id: id, label },
      });
    },

    /** By its owner: never the last way in. */
    async remove(ctx: Koa.Context, account: Account, id: string): Promise<void> {
      await guards.keepOtherPasskey(account, id);
      await passkeys.remove(account.id, id, { mode: mode(), check: keepEnough });
      await audit.write({
        event: 'passkey.removed',
        actor: { kind: 'user', id: account.id },
        ...targetOf(account.id),
        details: { passkey_id: id },
      });
      await factors.tellOwnerOf(ctx, account.id, 'passkey_removed');
    },

    /** For the owner's own page. */
    async own(account: Account) {
      const all = await passkeys.list(account);
      const isEnough = (id: string): boolean =>
        mayBeLeftWith(
          { ...account, passkeys: (account.passkeys ?? []).filter((one) => one.id !== id) },
          policy(),
        );
      return all.map((one) => ({
        ...one,
        canRemove: hasOtherWayIn(account, one.id, mode()) && isEnough(one.id),
      }));
    },

    strongestAcr,

    /** For the admin API, which writes down what it does. */
    forAdministrators: {
      list: passkeys.list,
      async remove(account: Account, id: string): Promise<void> {
        await guards.keepOtherPasskey(account, id);
        await passkeys.remove(account.id, id, { mode: mode(), mayLeaveNoWayIn: true });
        await factors.tellOwnerOf(undefined, account.id, 'passkey_removed');
      },
    },

    guardSettings: guards.guardSettings,
  };
}
