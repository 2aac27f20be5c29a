// Owns the page of one user: what an administrator is asked on the phone, and the form with what is known of the person.
import { itemsOf, refusalOf, textOf, textOrNull, typedIn, versionOf } from './field-values.ts';
import { createNames, type EventRow, eventRows } from './names.ts';
import type { Page, Values, Visit } from './page.ts';
import { applicationsOf } from './used-applications.ts';
import { errorsOf, userFields } from './users.ts';
import { type Verdict, verdictOn } from './verdict.ts';

const here = 'users';
const TRAIL = 12;

const idOf = ({ params }: Visit): { id: string } => ({ id: params.id ?? '' });

/** Events about the person and by the person, the latest first. */
async function trailOf(visit: Visit, id: string): Promise<readonly EventRow[]> {
  const read = async (name: 'target_id' | 'actor_id') =>
    itemsOf((await visit.call('GET /audit', { query: { [name]: id, limit: String(TRAIL) } })).data);
  const found = [...(await read('target_id')), ...(await read('actor_id'))];
  const events = [...new Map(found.map((event) => [textOf(event, 'id'), event])).values()]
    .sort((a, b) => (textOf(a, 'id') < textOf(b, 'id') ? 1 : -1))
    .slice(0, TRAIL);
  return eventRows(events, createNames(visit));
}

export async function showUser(visit: Visit, model: object = {}, status = 200): Promise<void> {
  const params = idOf(visit);
  const { data: user, version } = await visit.call('GET /users/{id}', { params });
  const latest = async (event: string) => {
    const query = { event, target_id: params.id, limit: '1' };
    return itemsOf((await visit.call('GET /audit', { query })).data)[0];
  };
  const active = { is_active: 'true', limit: '50' };
  const [sessions, devices, passkeys, grants, failure, trail] = await Promise.all([
    visit.call('GET /users/{id}/sessions', { params, query: active }),
    visit.call('GET /users/{id}/trusted-devices', { params }),
    visit.call('GET /users/{id}/passkeys', { params }),
    visit.call('GET /users/{id}/grants', { params, query: { limit: '200' } }),
    latest('signin.failure'),
    trailOf(visit, params.id),
  ]);
  const verdict: Verdict = verdictOn(user, failure);
  const all: readonly Values[] = itemsOf(sessions.data);
  visit.show(
    'user',
    {
      title: textOf(user, 'username'),
      here,
      crumbs: [{ label: 'Users', href: '/users' }],
      user,
      version,
      verdict,
      failure,
      sessions: all,
      ownSession: visit.who.sessionUid,
      devices: itemsOf(devices.data),
      passkeys: itemsOf(passkeys.data),
      applications: applicationsOf(itemsOf(grants.data), all),
      trail,
      isSelf: visit.who.account.id === params.id,
      ...model,
    },
    status,
  );
}

interface Edit {
  readonly values?: Values;
  readonly alert?: string;
  readonly errors?: Readonly<Record<string, string>>;
  readonly isStale?: boolean;
}

async function showEdit(visit: Visit, edit: Edit = {}, status = 200): Promise<void> {
  const { data: user, version } = await visit.call('GET /users/{id}', { params: idOf(visit) });
  const values = edit.values ?? { ...user, is_email_verified: user.is_email_verified === true ? 'on' : '' };
  const crumbs = [
    { label: 'Users', href: '/users' },
    { label: textOf(user, 'username'), href: `/users/${textOf(user, 'id')}` },
  ];
  const model = { title: 'Edit', here, crumbs, user, version, fields: userFields, isStale: false };
  visit.show('user-edit', { ...model, ...edit, values }, status);
}

async function edit(visit: Visit): Promise<void> {
  const { form } = visit;
  const names = ['email', ...userFields.map(({ name }) => name)];
  try {
    await visit.call('PATCH /users/{id}', {
      params: idOf(visit),
      ifVersion: versionOf(form),
      body: {
        username: (form.get('username') ?? '').trim(),
        is_email_verified: form.get('is_email_verified') === 'on',
        ...Object.fromEntries(names.map((name) => [name, textOrNull(form.get(name))])),
      },
    });
    visit.go(`/users/${idOf(visit).id}`, 'user-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    const told = { values: typedIn(form), errors: errorsOf(status, alert, errors), isStale };
    await showEdit(visit, { ...told, ...(isStale ? {} : { alert }) }, status);
  }
}

export const userPages: readonly Page[] = [
  { method: 'GET', path: '/users/:id', handle: (visit) => showUser(visit) },
  { method: 'GET', path: '/users/:id/edit', handle: (visit) => showEdit(visit) },
  { method: 'POST', path: '/users/:id/edit', handle: edit },
  {
    method: 'POST',
    path: '/users/:id/devices/:device_id/revoke',
    async handle(visit) {
      const params = { ...idOf(visit), device_id: visit.params.device_id ?? '' };
      await visit.call('DELETE /users/{id}/trusted-devices/{device_id}', { params });
      visit.go(`/users/${params.id}`, 'device-revoked');
    },
  },
];
