// The page of one user: the answers to common support questions, and the form with the user's data.
import type { Form } from '../../../http/index.ts';
import { apiCall } from '../../pages/curl.ts';
import { textOf, versionOf } from '../../pages/field-values.ts';
import { formPages, type Refused, shows } from '../../pages/form-pages.ts';
import { personName } from '../../pages/format.ts';
import { type AdminContext, get, idOf, type Page, post, type Values } from '../../pages/page.ts';
import { auditLog } from '../audit/resource.ts';
import { groupChoices } from '../groups/choice.ts';
import { createNames, shownEvents } from '../names.ts';
import { passkeys } from '../passkeys/resource.ts';
import { userSessions } from '../sessions/resource.ts';
import { grants } from '../tokens/resource.ts';
import { trustedDevices } from '../trusted-devices/resource.ts';
import { bodyOf, formFields, formLabels, personalFacts, storedIn } from './form-fields.ts';
import { errorsOf } from './list-page.ts';
import { mailedActsOf } from './mailed-acts.ts';
import { users } from './resource.ts';
import { applicationsOf } from './used-applications.ts';
import { verdictOn } from './verdict.ts';

const here = 'users';
const TRAIL = 12;

/** Events by and about the user, the latest first. */
async function trailOf(context: AdminContext, id: string) {
  const read = async (name: 'target_id' | 'actor_id') =>
    (await context.call(auditLog.list, { query: { [name]: id, limit: String(TRAIL) } })).data.items;
  const found = [...(await read('target_id')), ...(await read('actor_id'))];
  const events = [...new Map(found.map((event) => [event.id, event])).values()]
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, TRAIL);
  return shownEvents(events, createNames(context));
}

export const showUser = shows('user', async (context) => {
  const params = idOf(context);
  const { data: user, version } = await context.call(users.read, { params });
  const failures = { event: 'signin.failure', target_id: params.id, limit: '1' };
  const [sessions, devices, ownPasskeys, ownGrants, failed, trail, choices, mailedActs] = await Promise.all([
    context.call(userSessions.list, { params, query: { is_active: 'true', limit: '50' } }),
    context.call(trustedDevices.list, { params }),
    context.call(passkeys.list, { params }),
    context.call(grants.list, { params, query: { limit: '200' } }),
    context.call(auditLog.list, { query: failures }),
    trailOf(context, params.id),
    groupChoices(context),
    mailedActsOf(context, user),
  ]);
  const [failure] = failed.data.items;
  const active = sessions.data.items;
  const labels = new Map(choices.items.map(({ name, label }) => [name, label]));
  return {
    title: personName(user),
    isTitleName: true,
    here,
    crumbs: [{ label: 'Users', href: '/users' }],
    user,
    version,
    verdict: verdictOn(user, failure, ownPasskeys.data.items.length + (mailedActs.signsIn ? 1 : 0)),
    failure,
    sessions: active,
    ownSession: context.admin.sessionUid,
    devices: devices.data.items,
    passkeys: ownPasskeys.data.items,
    applications: applicationsOf(ownGrants.data.items, active),
    trail,
    facts: personalFacts(user),
    groups: user.groups.map((name) => ({ name, label: labels.get(name) ?? name })),
    groupChoices: { ...choices, items: choices.items.filter(({ name }) => !user.groups.includes(name)) },
    mailedActs,
    isSelf: context.admin.account.id === params.id,
  };
});

interface Edit {
  readonly values?: Values;
  /** The version and values that the form was rendered from, when they differ from the stored ones. */
  readonly version?: number;
  readonly was?: Values;
  readonly alert?: string;
  readonly errors?: Readonly<Record<string, string>>;
  readonly isStale?: boolean;
}

/** After a conflict: keeps the fields that were edited, and takes the stored value of all others. */
const mergedWith = (form: Form, stored: Values): Values =>
  Object.fromEntries(
    formFields.map(({ name }) => {
      const typed = form.get(name) ?? '';
      return [name, typed === form.get(`was.${name}`) ? stored[name] : typed];
    }),
  );

async function showEdit(context: AdminContext, edit: Edit = {}, status = 200): Promise<void> {
  const { data: user, version } = await context.call(users.read, { params: idOf(context) });
  const stored = storedIn(user);
  const values = edit.isStale === true ? mergedWith(context.form, stored) : (edit.values ?? stored);
  const crumbs = [
    { label: 'Users', href: '/users' },
    { label: personName(user), href: `/users/${user.id}`, isName: true },
  ];
  const body = bodyOf(
    (name) => textOf(values, name),
    () => true,
  );
  const call = apiCall('PATCH', `/users/${user.id}`, body, version);
  const shown = { title: 'Edit', here, crumbs, user, version, was: stored, stored, call, isStale: false };
  const model = { ...shown, fields: formFields, labels: formLabels };
  context.show('user-edit', { ...model, ...edit, values }, status);
}

/** Sends changed fields only: including the unchanged e-mail address would make a change of the family name sensitive. */
const changedIn = (form: Form): Values =>
  bodyOf(
    (name) => form.get(name),
    (name) =>
      !form.has('was.username') || (form.get(name) ?? '').trim() !== (form.get(`was.${name}`) ?? '').trim(),
  );

async function showRefused(
  context: AdminContext,
  { isStale, alert, errors: found, values }: Refused,
  status: number,
): Promise<void> {
  const { form } = context;
  const errors = errorsOf(status, alert, found);
  if (isStale) return showEdit(context, { errors, isStale }, status);
  // Keeps the form's original version, so that the next submission still detects changes by others.
  const was = Object.fromEntries(formFields.map(({ name }) => [name, form.get(`was.${name}`) ?? '']));
  const version = versionOf(form);
  const made = version === undefined ? { was } : { was, version };
  await showEdit(context, { errors, isStale, alert, values, ...made }, status);
}

const edit = formPages({
  path: '/users/:id/edit',
  show: (context) => showEdit(context),
  showRefused,
  async submit(context) {
    const { form } = context;
    const params = idOf(context);
    await context.call(users.change, { params, ifVersion: versionOf(form), body: changedIn(form) });
    context.go(`/users/${params.id}`, 'user-saved');
  },
});

export const userPages: readonly Page[] = [
  get('/users/:id', (context) => showUser(context)),
  ...edit,
  post('/users/:id/devices/:device_id/revoke', async (context) => {
    const params = { ...idOf(context), device_id: context.params.device_id ?? '' };
    await context.call(trustedDevices.remove, { params });
    context.go(`/users/${params.id}`, 'device-revoked');
  }),
];
