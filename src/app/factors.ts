// Owns putting together what a sign-in needs beyond the password: second factors, trusted devices, links by mail and the
// mails themselves (create-app.ts builds the rest).
import type Koa from 'koa';
import type { KnownBrowsers } from '../../interactions/known-browsers.ts';
import { createTrustedDeviceCookie } from '../../interactions/trusted-device-cookie.ts';
import type { Accounts, ReportSignIn } from '../accounts/index.ts';
import { type Account, isUsable } from '../accounts/index.ts';
import { hasSecondFactor } from '../accounts/security-state.ts';
import type { Audit } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/types.ts';
import type { Events } from '../events/index.ts';
import { deviceName } from '../http/device-name.ts';
import { createOneTime } from '../http/one-time.ts';
import type { Sealer } from '../keys/sealing.ts';
import type { Logger } from '../log.ts';
import { createMail, type MailTemplate, type MailValues } from '../mail/index.ts';
import { subscribeNotices } from '../notifications/owner-notices.ts';
import { EMAIL_CODE_COOLDOWN_SECONDS } from '../second-factors/email-codes.ts';
import { toQrDataUri } from '../second-factors/qr.ts';
import { type CodeMethod, createSecondFactors } from '../second-factors/second-factors.ts';
import type { SettingValues } from '../settings/schema.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';

interface Parts {
  readonly store: Store;
  readonly config: Config;
  readonly basePath: string;
  readonly isSecure: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sealer: Sealer;
  readonly current: () => SettingValues;
  /** Built after this: an account's removal takes what is in here along. */
  readonly accounts: () => Accounts;
  readonly events: Events;
  readonly audit: Pick<Audit, 'write'>;
  readonly knownBrowsers: KnownBrowsers;
  readonly reportSignIn: ReportSignIn;
}

export type Factors = ReturnType<typeof createFactors>;

export function createFactors(parts: Parts) {
  const { store, config, basePath, isSecure, clock, log, sealer, current, accounts } = parts;
  const { audit, knownBrowsers } = parts;
  const { baseUrl } = config;
  const mail = createMail({ store, sealer, clock, settings: current, baseUrl, log });
  const factors = createSecondFactors({
    accounts: store.collection(model.accounts),
    emailChallenges: store.ephemeral(model.emailChallenges),
    trustedDevices: store.collection(model.trustedDevices),
    rates: store.ephemeral(model.rates),
    sealer,
    secretKeys: config.secretKeys,
    clock,
    issuerName: () => current().product_name,
    settings: current,
  });
  const deviceCookie = createTrustedDeviceCookie({
    isSecure,
    basePath,
    devices: factors.trustedDevices,
    seconds: () => current().trusted_device_seconds,
    deviceName,
  });

  const findUsable = async (id: string): Promise<Account | undefined> => {
    const account = await accounts().find(id);
    return account !== undefined && isUsable(account) ? account : undefined;
  };

  /** A notice to the owner; whoever has no verified address gets none. */
  async function tellOwner(
    account: Account,
    template: MailTemplate,
    values: MailValues = {},
    language?: string,
  ): Promise<void> {
    if (account.email === undefined || !account.isEmailVerified) return;
    await mail.queue({
      to: account.email,
      template,
      values: { username: account.username, ...values },
      language,
    });
  }

  const originOf = (ctx: Koa.Context): MailValues => ({
    ipAddress: ctx.ip,
    device: deviceName(ctx.get('user-agent')),
    at: clock(),
  });
  const languageOf = (ctx: Koa.Context): string => ctx.get('accept-language').slice(0, 200);

  async function mailCode(
    ctx: Koa.Context,
    account: Account,
    boundTo: string,
  ): Promise<'sent' | 'cooldown' | 'limited'> {
    const started = await factors.startEmail(account, boundTo);
    if (typeof started === 'string') return started;
    const expiresSeconds = Math.round((started.expiresAt - clock()) / 1000);
    const values = { ...originOf(ctx), code: started.code, expiresSeconds };
    await tellOwner(account, 'sign_in_code', values, languageOf(ctx));
    return 'sent';
  }

  subscribeNotices({
    tellOwner,
    find: (id) => accounts().find(id),
    revokeDevices: (accountId) => factors.trustedDevices.revokeAll(accountId),
    events: parts.events,
    clock,
    log,
  });

  return {
    mail,
    factors,
    /** A notice that cannot be queued undoes nothing of what it tells. @param ctx none: an administrator did it */
    async tellOwnerOf(ctx: Koa.Context | undefined, id: string, template: MailTemplate): Promise<void> {
      const account = await accounts().find(id);
      const [values, language] = ctx ? [originOf(ctx), languageOf(ctx)] : [{}, account?.profile.locale];
      await (account && tellOwner(account, template, values, language))?.catch((err: unknown) => {
        log.warn({ event: 'notice_lost', template, account_id: id, err }, 'notice not queued');
      });
    },
    /** What belongs to an account outside of its own document. */
    async removeAllOf(accountId: string): Promise<void> {
      // Its own document goes last, so the address is still known.
      const address = (await store.collection(model.accounts).find(accountId))?.value.email;
      await Promise.all([
        factors.removeAllOf(accountId),
        address === undefined ? undefined : mail.removeAllTo(address),
      ]);
    },
    /** For interactions/. */
    signIn: {
      oneTime: createOneTime({ collection: store.ephemeral(model.oneTime), sealer, clock }),
      reportSignIn: parts.reportSignIn,
      mfaMode: () => current().mfa_mode,
      findUsable,
      stepOf: factors.stepOf,
      hasFactor: hasSecondFactor,
      isTrustedDevice: deviceCookie.isTrusted,
      fromBrowser: knownBrowsers.fromBrowser,
      async onComplete(ctx: Koa.Context, account: Account): Promise<void> {
        // R149. Of an account that knows no browser yet, every one would be new.
        const isNew = (account.knownBrowsers ?? []).length > 0 && !knownBrowsers.isKnown(ctx, account);
        await knownBrowsers.complete(ctx, account);
        if (isNew) await tellOwner(account, 'new_sign_in', originOf(ctx), languageOf(ctx));
      },
      isUnchanged: knownBrowsers.isUnchanged,
      rememberBrowser: knownBrowsers.remember,
      async mailFirst(ctx: Koa.Context, account: Account, boundTo: string): Promise<number | undefined> {
        const [first] = factors.methodsOf(account);
        if (first !== 'email' || account.role !== 'user') return undefined;
        return (await mailCode(ctx, account, boundTo)) === 'sent' ? clock() : undefined;
      },
      methodsOf: factors.methodsOf,
      verify: factors.verify,
      totp: factors.totp,
      recoveryCodes: (accountId: string) => factors.recoveryCodes.generate(accountId),
      qr: toQrDataUri,
      mailCode,
      canUseEmail: (account: Account) =>
        current().allow_email_codes && account.email !== undefined && account.isEmailVerified,
      useEmail: (accountId: string) => factors.setEmailFactor(accountId, true),
      async trust(ctx: Koa.Context, account: Account): Promise<void> {
        // As it is now: the code that was just given changed it.
        const fresh = await findUsable(account.id);
        if (fresh === undefined) return;
        await deviceCookie.trust(ctx, fresh);
        const user = { kind: 'user', id: account.id } as const;
        await audit.write({ event: 'device.trusted', actor: user, target: user });
      },
      trustDays: () => Math.max(1, Math.round(current().trusted_device_seconds / 86_400)),
      resendSeconds: EMAIL_CODE_COOLDOWN_SECONDS,
      now: clock,
      async onUsed(
        ctx: Koa.Context,
        account: Account,
        event: 'verified' | 'failed' | 'enrolled',
        method: CodeMethod,
        verdict: 'wrong' | 'blocked' | 'expired' = 'wrong',
      ): Promise<void> {
        const target = { kind: 'user', id: account.id } as const;
        const name = { verified: 'mfa.success', failed: 'mfa.failure', enrolled: 'mfa.enrolled' } as const;
        // Who has shown a factor is that person; who has not, nobody knows.
        const who = event === 'failed' ? { reason: `code_${verdict}` } : { actor: target };
        await audit.write({ event: name[event], ...who, target, details: { method } });
        if (event === 'enrolled')
          await tellOwner(account, 'second_factor_added', originOf(ctx), languageOf(ctx));
        if (event === 'verified' && method === 'recovery') {
          await audit.write({ event: 'recovery.used', actor: target, target });
          const fresh = await findUsable(account.id);
          const codesLeft = fresh?.recoveryCodes?.length ?? 0;
          await tellOwner(account, 'recovery_code_used', { ...originOf(ctx), codesLeft }, languageOf(ctx));
        }
      },
      async onPasswordReset(ctx: Koa.Context, accountId: string): Promise<void> {
        // The reset voided every known browser; this one is where the owner goes on, in spite of any lock.
        await knownBrowsers.remember(ctx, accountId);
        const account = await accounts().find(accountId);
        if (account !== undefined)
          await tellOwner(account, 'password_changed', originOf(ctx), languageOf(ctx));
      },
    },
  };
}
