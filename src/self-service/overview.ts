// What the home page of self-service shows: the account, its sessions, trusted devices and applications, and recent activity.

import { type Account, hasSecondFactor } from '../accounts/index.ts';
import { createActivity } from '../audit/index.ts';
import { CONSOLE_CLIENT_ID } from '../clients/index.ts';
import { deviceName, deviceParts } from '../events/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { SessionRecord } from '../store/collections.ts';
import type { PageModels } from '../views/index.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { GlanceFacts } from './glance.ts';
import type { SelfServiceUser } from './page-kit.ts';

/** More than any user has; the rest can still be ended together. */
const MAX_SESSIONS = 100;
/** Of activities: what the page shows at first, and when it is asked for more. */
const FEW_ACTIVITIES = 10;
const MANY_ACTIVITIES = 100;
/** RFC 6238; src/second-factors/totp.ts. */
const TOTP_STEP_MS = 30_000;

/** Whether codes by mail can become a factor. For roles that can read everyone's data, a mailbox is none. */
export const emailCodesOf = (
  { role, email, isEmailVerified }: Account,
  { allow_email_codes: isAllowed, mfa_mode: mode }: SettingValues,
): 'now' | 'later' | 'never' => {
  if (!isAllowed || mode === 'off' || role !== 'user' || email === undefined) return 'never';
  return isEmailVerified ? 'now' : 'later';
};

export function createOverview(doors: SelfServiceDoors) {
  const { clock, settings, clients, apis, sessions, access, passkeys } = doors;
  const { trustedDevices } = doors.secondFactors;
  const { emailChanges } = doors.recovery;
  const recentActivity = createActivity(doors.audit);
  const arePasswordsOff = (): boolean => settings().auth_mode === 'passkey_only';
  const areCodesOff = (): boolean => settings().mfa_mode === 'off';

  async function sessionsOf({ account, sessionUid }: SelfServiceUser) {
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
      ...deviceParts(deviceName(value.userAgent)),
      ipAddress: value.ipAddress,
      signedInAt: value.createdAt,
      lastActivityAt: value.lastActivityAt,
      isThis: id === sessionUid,
    });
    return items.map(view).sort((a, b) => Number(b.isThis) - Number(a.isThis));
  }

  /** In the words of the APIs that exist, by the scopes that they have now. */
  async function grantedAt(granted: ReadonlyMap<string, readonly string[]>) {
    const found = await Promise.all(
      [...granted].map(async ([id, ids]) => ({ ids, api: await apis.find(id) })),
    );
    return found.flatMap(({ ids, api }) => {
      const scopes = (api?.value.scopes ?? [])
        .filter(({ id }) => ids.includes(id))
        .map(({ name, description }) => ({ name, description }));
      if (api === undefined || scopes.length === 0) return [];
      return [{ name: api.value.name, resource: api.value.identifier, scopes }];
    });
  }

  /** Of a metadata document only the address, which is its identifier, is verified. */
  async function applicationBy(clientId: string) {
    const client = (await clients.find(clientId))?.value;
    const name = client?.quarantine?.by === 'document' ? undefined : client?.metadata.client_name;
    return {
      name: typeof name === 'string' ? name : clientId,
      isAgent: client?.quarantine !== undefined,
      isGone: client === undefined,
    };
  }

  /** @returns undefined for none, for one that is gone, and for our own pages: they are what is looked at */
  async function nameOf(clientId: string | undefined): Promise<string | undefined> {
    if (clientId === undefined || clientId === CONSOLE_CLIENT_ID) return undefined;
    const { name, isGone } = await applicationBy(clientId);
    return isGone ? undefined : name;
  }

  async function applicationsOf({ account }: SelfServiceUser) {
    // Our own pages are not an application to which the user gave access.
    const others = (await access.list(account.id)).filter(({ clientId }) => clientId !== CONSOLE_CLIENT_ID);
    return Promise.all(
      others.map(async ({ clientId, scopes, apis: granted, since, lastUsedAt, tokens }) => {
        const { name, isAgent } = await applicationBy(clientId);
        return {
          clientId,
          name,
          isAgent,
          scopes,
          apis: await grantedAt(granted),
          since,
          lastUsedAt,
          tokens,
        };
      }),
    );
  }

  async function devicesOf({ account }: SelfServiceUser) {
    return (await trustedDevices.list(account)).map(({ id, label, ipAddress, lastUsedAt, expiresAt }) => ({
      id,
      ...deviceParts(label),
      ipAddress,
      lastUsedAt,
      expiresAt,
    }));
  }

  async function activityOf({ account }: SelfServiceUser, most = FEW_ACTIVITIES) {
    const activities = await recentActivity(account.id, most);
    return Promise.all(
      activities.map(async ({ at, kind, isProblem, clientId, ipAddress, userAgent }) => ({
        at,
        kind,
        isProblem,
        application: await nameOf(clientId),
        ipAddress,
        ...deviceParts(deviceName(userAgent ?? '')),
      })),
    );
  }

  function factsOf({ account }: SelfServiceUser): GlanceFacts {
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
      arePasskeysOff: settings().auth_mode === 'password',
    };
  }

  /** @param isWhole whether older activity was asked for, too */
  async function all(who: SelfServiceUser, isWhole = false) {
    const most = isWhole ? MANY_ACTIVITIES : FEW_ACTIVITIES;
    const { account } = who;
    const [registered, activeSessions, devices, applications, activity] = await Promise.all([
      passkeys.list(account),
      sessionsOf(who),
      devicesOf(who),
      applicationsOf(who),
      // One more says that there is more.
      activityOf(who, isWhole ? most : most + 1),
    ]);
    const own = factsOf(who);
    // Asked for only where it may be so: nearly everyone's address is verified.
    const hasStoppedEmail = own.hasUnverifiedEmail && (await emailChanges.isStopped(account));
    const facts = { ...own, hasStoppedEmail };
    const usedAt = registered.map(({ lastUsedAt }) => lastUsedAt ?? 0);
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
              appUsedAt: account.totp && account.totp.lastStep * TOTP_STEP_MS,
              hasEmailCodes: facts.hasEmailCodes,
              canUseEmail: emailCodesOf(account, settings()),
              hasFactor,
              isOff: areCodesOff(),
            },
      hasMailedLink:
        settings().allow_magic_link &&
        !arePasswordsOff() &&
        account.email !== undefined &&
        account.isEmailVerified,
      passkeys:
        facts.arePasskeysOff && registered.length === 0
          ? undefined
          : { count: registered.length, lastUsedAt: Math.max(0, ...usedAt) || undefined },
      sessions: activeSessions,
      devices,
      applications,
      activity: activity.slice(0, most),
      hasMoreActivity: activity.length > most,
    } satisfies Omit<PageModels['account'], keyof PageKitModel> & { facts: GlanceFacts };
  }

  return {
    all,
    /** What goes with the account. */
    async lost(who: SelfServiceUser) {
      const [applications, sessions] = await Promise.all([applicationsOf(who), sessionsOf(who)]);
      return { applications, passkeys: who.account.passkeys?.length ?? 0, sessions: sessions.length };
    },
    facts: factsOf,
    sessions: sessionsOf,
    devices: devicesOf,
    applications: applicationsOf,
    activity: (who: SelfServiceUser) => activityOf(who),
  };
}

/** The members that the page adds. */
type PageKitModel = Pick<
  PageModels['account'],
  | 'csrf'
  | 'alert'
  | 'signals'
  | 'retryAfterSeconds'
  | 'account'
  | 'confirmUrl'
  | 'now'
  | 'glance'
  | 'canDelete'
  | 'codesLeft'
  | 'notice'
>;
