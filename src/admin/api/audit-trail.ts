// Records the success of each route that changes something as the event that it declares (`recorded`), with actor, target, and
// the state before and after (checklist R131, R146). A route without one is recorded as `admin.acted`.
import { type Account, toUser } from '../../accounts/index.ts';
import { differenceOf } from '../../audit/index.ts';
import { type Client, toClient } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import type { Events } from '../../events/index.ts';
import { isMembers } from '../../json.ts';
import type { SettingDescription } from '../../settings/index.ts';
import { type Answer, nameOf, type RawInput, type Recorded, type Route } from './route.ts';

const unnamed: Recorded = { event: 'admin.acted' };

type View = Readonly<Record<string, unknown>>;

/** The view that is compared before and after the change. */
interface Seen {
  readonly version?: number | undefined;
  readonly view: View;
}

export interface AuditTrailDeps {
  readonly events: Pick<Events, 'record'>;
  readonly accounts: { find(id: string): Promise<Account | undefined> };
  readonly clients: { find(id: string): Promise<Client | undefined> };
  readonly settings: { describe(): SettingDescription[] };
  readonly clock: Clock;
}

/** Reads the state before the change; @returns a function to call after a success. */
export type AuditTrail = (
  route: Route,
  input: RawInput,
) => Promise<(answer: Answer<unknown> | undefined) => Promise<void>>;

// Values of personal data are recorded only where they concern access; for other data only the names of changed fields.
// So the log holds little personal data about a deleted user until its retention ends.
const userFields = [
  'username',
  'email',
  'role',
  'is_active',
  'is_email_verified',
  'totp_verified',
  'groups',
  'locked_until',
  'password_changed_at',
] as const;

const textOf = (value: unknown, name: string): string | undefined => {
  const member: unknown = isMembers(value) ? value[name] : undefined;
  return typeof member === 'string' ? member : undefined;
};

const pick = (view: View, names: readonly string[]): View =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(view, name)).map((name) => [name, view[name]]));

/** The last path parameter identifies the target; a route without one identifies it in the body or the response. */
function targetIdOf(
  { path }: Route,
  { params, body }: RawInput,
  answer?: Answer<unknown>,
): string | undefined {
  const name = [...path.matchAll(/\{(\w+)\}/g)].at(-1)?.[1];
  if (name !== undefined) return textOf(params, name);
  return textOf(body, 'user_id') ?? answer?.id ?? textOf(answer?.data, 'id');
}

const membershipOf = ({ params, body }: RawInput) => ({
  group: textOf(params, 'id'),
  userId: textOf(params, 'user_id') ?? textOf(body, 'user_id'),
});

const settingsView = (described: readonly SettingDescription[]): View =>
  // Descriptions hold null for a secret; `fields` shows that it was set.
  Object.fromEntries(described.map(({ key, value }) => [key, value]));

/** Of an application and of settings: what is no part of what was changed. */
const unrecorded: ReadonlySet<string> = new Set(['updated_at', 'unreachable']);

const shownOf = (kind: Recorded['view'], data: View): View =>
  kind === 'user' ? pick(data, userFields) : filtered(data, (name) => !unrecorded.has(name));

const filtered = (data: View, isKept: (name: string, value: unknown) => boolean): View =>
  Object.fromEntries(Object.entries(data).filter(([name, value]) => isKept(name, value)));

/** For a created or deleted item, absent members carry no information. */
const withoutBlanks = (data: View): View => filtered(data, (_name, value) => value !== null);

export function createAuditTrail({ events, accounts, clients, settings, clock }: AuditTrailDeps): AuditTrail {
  async function see(kind: Recorded['view'], id: string | undefined): Promise<Seen | undefined> {
    if (kind === 'settings') return { view: settingsView(settings.describe()) };
    if (id === undefined || kind === undefined) return undefined;
    if (kind === 'user') {
      const account = await accounts.find(id);
      return account && { version: account.version, view: shownOf(kind, toUser(account, clock())) };
    }
    const found = await clients.find(id);
    return found && { version: found.version, view: shownOf(kind, toClient(found)) };
  }

  /** Taken from the response, which is what was written; a second read could include later changes by others. */
  function seenIn(kind: Recorded['view'], answer: Answer<unknown> | undefined): Seen {
    if (kind === 'settings') return { view: settingsView(settings.describe()) };
    const data = isMembers(answer?.data) ? answer.data : {};
    return { version: answer?.version, view: shownOf(kind, data) };
  }

  function changeOf({ view }: Recorded, before: Seen | undefined, answer: Answer<unknown> | undefined): View {
    if (view === undefined) return {};
    if (before === undefined) return { after: withoutBlanks(seenIn(view, answer).view) };
    if (answer?.data === undefined) return { before: withoutBlanks(before.view) };
    const after = seenIn(view, answer);
    // Another administrator changed it in between: part of the difference is theirs and has its own event.
    const isShared =
      before.version !== undefined && after.version !== undefined && after.version > before.version + 1;
    return { ...differenceOf(before.view, after.view), ...(isShared && { is_shared: true }) };
  }

  return async (route, input) => {
    const line = route.recorded ?? unnamed;
    const membership = line.isMembership === true ? membershipOf(input) : undefined;
    const before = await see(line.view, targetIdOf(route, input));
    return async (answer) => {
      const fields = isMembers(input.body) ? Object.keys(input.body) : [];
      const id = membership?.userId ?? targetIdOf(route, input, answer);
      const { details, ...outcome } = answer?.recorded ?? {};
      await events.record({
        event: line.event,
        actor: input.actor,
        ...(line.target && { target: { kind: line.target, id } }),
        ...(line.target === 'client' && { clientId: id }),
        ...outcome,
        details: {
          ...(line === unnamed && { route: nameOf(route) }),
          ...(fields.length > 0 && { fields }),
          ...(line.isBodyShown === true && { given: input.body }),
          ...(membership && { group: membership.group }),
          ...changeOf(line, before, answer),
          ...details,
        },
      });
    };
  };
}
