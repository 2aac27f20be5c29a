// Everything that is held about a person, for that person (GDPR Art. 15 and 20): no secrets, no digests of them, and nothing
// about others. Of what an administrator did to the account it says what and when, not from where.

import { type Account, toUser } from '../accounts/index.ts';
import type { AuditRecord } from '../store/collections.ts';
import type { FieldFilter, Page, Query, Stored } from '../store/port.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { SelfServiceUser } from './page-kit.ts';

export type Row = Readonly<Record<string, unknown>>;

/** By section, in the order of the document; each has one row or many. */
export interface PersonalData {
  readonly exported_at: string;
  readonly account: Row;
  readonly picture: readonly Row[];
  readonly passkeys: readonly Row[];
  readonly sessions: readonly Row[];
  readonly trusted_devices: readonly Row[];
  readonly applications: readonly Row[];
  readonly mails: readonly Row[];
  readonly activity: readonly Row[];
}

const PAGE = 500;
/** Of one kind; far more than the retention leaves of one person. */
const MOST = 20_000;

const iso = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());

async function allOf<T extends { readonly id: string }>(
  query: (query: Query) => Promise<{ readonly items: readonly T[] }>,
  filter: FieldFilter,
  sort: string,
): Promise<T[]> {
  const all: T[] = [];
  for (let offset = 0; offset < MOST; offset += PAGE) {
    const { items } = await query({ filters: [filter], sort, order: 'desc', limit: PAGE, offset });
    all.push(...items);
    if (items.length < PAGE) break;
  }
  return all;
}

export function createPersonalExport(doors: SelfServiceDoors) {
  const { clock, audit, sessions, access, avatars, passkeys, secondFactors, mail, events, limits } = doors;

  async function activityOf(accountId: string): Promise<Row[]> {
    const query = (asked: Query): Promise<Page<AuditRecord>> => audit.query(asked);
    const both = await Promise.all(
      (['target_id', 'actor_id'] as const).map((field) =>
        allOf(query, { field, op: 'eq', value: accountId }, 'at'),
      ),
    );
    const byId = new Map(both.flat().map((event) => [event.id, event]));
    return [...byId.values()].sort((a, b) => b.value.at - a.value.at).map((event) => shown(event, accountId));
  }

  function shown({ value }: Stored<AuditRecord>, accountId: string): Row {
    const { at, event, outcome, actorKind, actorId, targetId, clientId, ipAddress, userAgent } = value;
    const isOwn = actorId === undefined || actorId === accountId || actorKind === 'client';
    const isAboutOwn = targetId === undefined || targetId === accountId;
    return {
      at: iso(at),
      event,
      outcome,
      by: actorId === accountId ? 'you' : actorKind,
      application: clientId ?? null,
      ...(isOwn && { ip_address: ipAddress ?? null, browser: userAgent ?? null }),
      // What an administrator did to others is data of those others.
      ...(isOwn && isAboutOwn && value.details !== undefined && { details: value.details }),
    };
  }

  async function pictureOf(account: Account): Promise<Row[]> {
    const kept = await avatars.recordOf(account);
    if (kept === undefined) return [];
    return [{ uploaded_at: iso(kept.createdAt), file: `data:image/jpeg;base64,${kept.large}` }];
  }

  /** To those whose mailboxes the person has shown: whose mails those to any other are is not known. */
  async function mailsOf({ email, isEmailVerified, otherEmails = [] }: Account) {
    if (email === undefined || !isEmailVerified) return [];
    const addresses = [email, ...otherEmails.map(({ address }) => address)];
    const all = await Promise.all(
      addresses.map((value) => allOf((query) => mail.list(query), { field: 'to', op: 'eq', value }, 'id')),
    );
    // Ids sort by time.
    return all.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async function gather(who: SelfServiceUser): Promise<PersonalData> {
    const { account } = who;
    const now = clock();
    const [picture, registered, past, devices, applications, activity, mails] = await Promise.all([
      pictureOf(account),
      passkeys.list(account),
      allOf((query) => sessions.query(query), { field: 'user_id', op: 'eq', value: account.id }, 'id'),
      secondFactors.trustedDevices.list(account),
      access.list(account.id),
      activityOf(account.id),
      mailsOf(account),
    ]);
    return {
      exported_at: new Date(now).toISOString(),
      account: {
        ...toUser(account, now),
        has_password: account.passwordHash !== undefined,
        authenticator_app_since: iso(account.totp?.enrolledAt),
        has_email_codes: account.hasEmailCodes === true,
        recovery_codes_left: account.recoveryCodes?.length ?? 0,
        known_browsers: account.knownBrowsers?.length ?? 0,
      },
      picture,
      passkeys: registered.map((one) => ({
        name: one.label,
        created_at: iso(one.createdAt),
        last_used_at: iso(one.lastUsedAt),
      })),
      sessions: past.map(({ value }) => ({
        started_at: iso(value.createdAt),
        last_activity_at: iso(value.lastActivityAt),
        ended_at: iso(value.endedAt),
        ip_address: value.ipAddress,
        browser: value.userAgent,
      })),
      trusted_devices: devices.map((one) => ({
        name: one.label,
        ip_address: one.ipAddress,
        last_used_at: iso(one.lastUsedAt),
        expires_at: iso(one.expiresAt),
      })),
      applications: applications.map((one) => ({
        application: one.clientId,
        scopes: one.scopes,
        since: iso(one.since),
        last_used_at: iso(one.lastUsedAt),
        active_tokens: one.tokens,
      })),
      mails: mails.map((one) => ({ at: iso(one.createdAt), subject: one.subject, state: one.state })),
      activity,
    };
  }

  /** Recorded before it is given; the owner is told by mail. @throws AppError request.rate_limited */
  return async (who: SelfServiceUser, format: 'json' | 'html'): Promise<PersonalData> => {
    // Each reads everything, and is one mail among those that warn its owner of other acts.
    await limits.consume('mail_acts', `exports of ${who.account.id}`);
    const data = await gather(who);
    await events.record({ event: 'user.data_exported', owner: who.account.id, details: { format } });
    return data;
  };
}
