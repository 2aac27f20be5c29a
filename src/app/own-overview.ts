// Owns what people's own page shows (own-account.ts serves it): the account, where it is signed in, what it is open to,
// and what happened lately.
import { hasSecondFactor } from '../accounts/security-state.ts';
import { CONSOLE_CLIENT_ID } from '../admin/console/client.ts';
import { createActivity } from '../audit/activity.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clients } from '../clients/contract.ts';
import type { Clock } from '../clock.ts';
import { deviceName } from '../http/device-name.ts';
import type { GlanceFacts } from '../self-service/glance.ts';
import type { Visitor } from '../self-service/visit.ts';
import type { ApplicationAccesses } from '../sessions/application-access.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SettingValues } from '../settings/schema.ts';
import type { SessionRecord } from '../store/collections.ts';
import type { AccountPageModels } from '../views/account-pages.ts';
import type { Factors } from './factors.ts';
import type { PasskeyApp } from './passkeys.ts';

interface Parts {
  readonly clock: Clock;
  readonly current: () => SettingValues;
  readonly clients: Pick<Clients, 'find'>;
  readonly sessions: Pick<Sessions, 'query'>;
  readonly access: Pick<ApplicationAccesses, 'list'>;
  readonly passkeys: Pick<PasskeyApp, 'passkeys' | 'mode'>;
  readonly factors: Pick<Factors, 'factors'>;
  readonly audit: Pick<Audit, 'query'>;
}

/** More than anybody has; what is beyond can still be ended all at once. */
const MAX_SESSIONS = 100;

/** "Chrome on Windows" in two; words of ours (src/http/device-name.ts), not the browser's. */
function partsOf(device: string): { browser?: string; system?: string } {
  const [browser, system] = device.split(' on ');
  if (browser === undefined || browser === 'Unknown') return {};
  return system === undefined ? { browser } : { browser, system };
}

export function createOwnOverview(parts: Parts) {
  const { clock, current, clients, sessions, access, passkeys, factors } = parts;
  const { trustedDevices } = factors.factors;
  const recentActivity = createActivity(parts.audit);
  const arePasswordsOff = (): boolean => passkeys.mode() === 'passkey_only';
  const areCodesOff = (): boolean => current().mfa_mode === 'off';

  async function sessionsOf({ account, sessionUid }: Visitor) {
    const { items } = await sessions.query({
      filters: [
        { field: 'user_id', op: 'eq', value: account.id },
        { field: 'ended_at', op: 'absent' },
        { field: 'expires_at', op: 'gte', value: clock() + 1 },
      ],
      sort: 'last_activity_at',
      order: 'desc',
      limit: MAX_SESSIONS,
    });
    const view = ({ id, value }: { id: string; value: SessionRecord }) => ({
      id,
      ...partsOf(deviceName(value.userAgent)),
      ipAddress: value.ipAddress,
      lastActivityAt: value.lastActivityAt,
      isThis: id === sessionUid,
    });
    return items.map(view).sort((a, b) => Number(b.isThis) - Number(a.isThis));
  }

  async function applicationsOf({ account }: Visitor) {
    // Our own pages are no application that anybody let in.
    const all = (await access.list(account.id)).filter(({ clientId }) => clientId !== CONSOLE_CLIENT_ID);
    return Promise.all(
      all.map(async ({ clientId, scopes, since }) => {
        const metadata = (await clients.find(clientId))?.value.metadata;
        const textOf = (value: unknown): string | undefined =>
          typeof value === 'string' ? value : undefined;
        return {
          clientId,
          name: textOf(metadata?.client_name) ?? clientId,
          logoUri: textOf(metadata?.logo_uri),
          scopes,
          since,
        };
      }),
    );
  }

  async function devicesOf({ account }: Visitor) {
    return (await trustedDevices.list(account)).map(({ id, label, ipAddress, lastUsedAt, expiresAt }) => ({
      id,
      ...partsOf(label),
      ipAddress,
      lastUsedAt,
      expiresAt,
    }));
  }

  function factsOf({ account }: Visitor): GlanceFacts {
    const passkeyKinds = (account.passkeys ?? []).map(({ kind }) => kind);
    return {
      hasPassword: account.passwordHash !== undefined && !arePasswordsOff(),
      passkeyCount: passkeyKinds.filter((kind) => kind === 'passkey').length,
      securityKeyCount: passkeyKinds.filter((kind) => kind === 'security_key').length,
      hasApp: account.totp !== undefined,
      hasEmailCodes: account.hasEmailCodes === true,
      codesLeft: account.recoveryCodes?.length ?? 0,
      hasUnverifiedEmail: account.email !== undefined && !account.isEmailVerified,
      areCodesOff: areCodesOff(),
      arePasskeysOff: passkeys.mode() === 'password',
    };
  }

  async function overview(who: Visitor) {
    const { account } = who;
    const [ownPasskeys, own, devices, applications, activity] = await Promise.all([
      passkeys.passkeys.list(account),
      sessionsOf(who),
      devicesOf(who),
      applicationsOf(who),
      recentActivity(account.id),
    ]);
    const facts = factsOf(who);
    const usedAt = ownPasskeys.map(({ lastUsedAt }) => lastUsedAt ?? 0);
    const hasFactor = hasSecondFactor(account);
    return {
      facts,
      password: arePasswordsOff()
        ? undefined
        : { isSet: account.passwordHash !== undefined, changedAt: account.passwordChangedAt },
      secondFactor:
        areCodesOff() && !hasFactor
          ? undefined
          : {
              appSince: account.totp?.enrolledAt,
              hasEmailCodes: facts.hasEmailCodes,
              hasFactor,
              isOff: areCodesOff(),
            },
      passkeys:
        facts.arePasskeysOff && ownPasskeys.length === 0
          ? undefined
          : { count: ownPasskeys.length, lastUsedAt: Math.max(0, ...usedAt) || undefined },
      sessions: own,
      devices,
      applications,
      activity: activity.map(({ at, kind, isProblem, ipAddress, userAgent }) => ({
        at,
        kind,
        isProblem,
        ipAddress,
        ...partsOf(deviceName(userAgent ?? '')),
      })),
    } satisfies Omit<AccountPageModels['account'], keyof VisitModel> & { facts: GlanceFacts };
  }

  return {
    overview,
    facts: factsOf,
    sessions: sessionsOf,
    devices: devicesOf,
    applications: applicationsOf,
  };
}

/** What the page adds by itself. */
type VisitModel = Pick<
  AccountPageModels['account'],
  | 'csrf'
  | 'alert'
  | 'retryAfterSeconds'
  | 'account'
  | 'confirmUrl'
  | 'now'
  | 'glance'
  | 'codesLeft'
  | 'notice'
>;
