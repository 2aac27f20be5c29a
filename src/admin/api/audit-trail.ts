// Records the success of each route that changes something as the event that it declares (`recorded`), with actor, target, and
// the state before and after. A route without one is recorded as `admin.acted`.
import { differenceOf } from '../../audit/index.ts';
import { isMembers } from '../../json.ts';
import { applicationRows } from '../../model/applications/rows.ts';
import type { Rows } from '../../model/row.ts';
import { userRows } from '../../model/users/rows.ts';
import type { SettingDescription } from '../../settings/index.ts';
import type { AdminPorts } from './ports.ts';
import { type Answer, nameOf, type RawInput, type Recorded, type Route } from './route.ts';

const unnamed: Recorded = { event: 'admin.acted' };

type View = Readonly<Record<string, unknown>>;

/** Called before the change; @returns a function to call after a success, whose answer holds what was written and of what. */
export type AuditTrail = (
  route: Route,
  input: RawInput,
) => (answer: Answer<unknown> | undefined) => Promise<void>;

// Values of personal data are recorded only where they concern access; for other data only the names of changed fields.
// So the log holds little personal data about a deleted user until its retention ends.
const reportedIn = (rows: Rows): readonly string[] =>
  Object.entries(rows)
    .filter(([, { reported }]) => reported === 'value')
    .map(([name]) => name);
const recordedFields = { user: reportedIn(userRows), client: reportedIn(applicationRows) };

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

const shownOf = (kind: Recorded['view'], data: View): View =>
  kind === 'user' || kind === 'client' ? pick(data, recordedFields[kind]) : data;

/** For a created or deleted item, absent members carry no information. */
const withoutBlanks = (data: View): View =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

export function createAuditTrail({
  events,
  settingsInStore,
}: Pick<AdminPorts, 'events' | 'settingsInStore'>): AuditTrail {
  const viewOfSettings = (kind: Recorded['view']): View | undefined =>
    kind === 'settings' ? settingsView(settingsInStore.describe()) : undefined;

  const viewOf = (kind: Recorded['view'], item: unknown): View | undefined =>
    kind === undefined || !isMembers(item) ? undefined : shownOf(kind, item);

  function changeOf(
    { view }: Recorded,
    settingsBefore: View | undefined,
    answer: Answer<unknown> | undefined,
  ): View {
    const before = settingsBefore ?? viewOf(view, answer?.before);
    const after = viewOfSettings(view) ?? viewOf(view, answer?.data);
    if (before === undefined) return after === undefined ? {} : { after: withoutBlanks(after) };
    return after === undefined ? { before: withoutBlanks(before) } : { ...differenceOf(before, after) };
  }

  return (route, input) => {
    const line = route.recorded ?? unnamed;
    const membership = line.isMembership === true ? membershipOf(input) : undefined;
    const settingsBefore = viewOfSettings(line.view);
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
          ...changeOf(line, settingsBefore, answer),
          ...details,
        },
      });
    };
  };
}
