// The list of users: search, filters, the form that adds one, and the fields of that form.

import { minPasswordLength } from '../../../accounts/index.ts';
import { type PageText, phrase } from '../../../phrase.ts';
import { apiCall } from '../../pages/curl.ts';
import { isOn, textOrNull } from '../../pages/field-values.ts';
import { formPages, shows } from '../../pages/form-pages.ts';
import { drawnList } from '../../pages/list-page.ts';
import type { AdminContext, Page } from '../../pages/page.ts';
import { groupChoices } from '../groups/choice.ts';
import { readSettings } from '../settings/read.ts';
import { users } from './resource.ts';

const here = 'users';
const crumb = { label: 'Users', href: '/users' };

const UNSEEN_DAYS = 90;

/** At the start of that day, so that it is the same chip all day. */
const daysAgo = (now: number, days: number): string =>
  `${new Date(now - days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;

const words: Readonly<Record<string, string>> = {
  'is_locked false': 'Not locked',
  'is_active true': 'Active',
  'role user': 'Users without a role',
  'has_second_factor true': 'With a second factor',
  'totp_verified true': 'With an authenticator app',
  'totp_verified false': 'Without an authenticator app',
  'is_email_verified true': 'E-mail verified',
  'has_signed_in true': 'Signed in at least once',
};
const fieldWords: Readonly<Record<string, (value: string) => PageText>> = {
  username: (value) => phrase`Username is ${value}`,
  email: (value) => phrase`E-mail is ${value}`,
  created_at_from: (value) => phrase`Created since ${value}`,
  created_at_to: (value) => phrase`Created until ${value}`,
  updated_at_from: (value) => phrase`Changed since ${value}`,
  updated_at_to: (value) => phrase`Changed until ${value}`,
  last_login_at_from: (value) => phrase`Signed in since ${value}`,
  last_login_at_to: (value) => phrase`Not signed in since ${value}`,
};

async function filterWords(context: AdminContext) {
  const { items } = context.query.has('group') ? await groupChoices(context) : { items: [] };
  return (name: string, value: string): PageText | undefined => {
    if (name === 'group') return phrase`In ${items.find((group) => group.name === value)?.label ?? value}`;
    const time = /_at_(?:from|to)$/.test(name) ? value.slice(0, 10) : value;
    return words[`${name} ${value}`] ?? fieldWords[name]?.(time);
  };
}

const list = drawnList({
  path: '/users',
  title: 'Users',
  here,
  template: 'users',
  list: users.list,
  chips: ({ now }) => [
    { label: 'Locked', set: { is_locked: 'true' } },
    { label: 'Deactivated', set: { is_active: 'false' } },
    { label: 'Administrators', set: { role: 'admin' } },
    { label: 'Auditors', set: { role: 'auditor' } },
    { label: 'No second factor', set: { has_second_factor: 'false' } },
    { label: 'E-mail not verified', set: { is_email_verified: 'false' } },
    { label: 'Never signed in', set: { has_signed_in: 'false' } },
    { label: `Not signed in for ${UNSEEN_DAYS} days`, set: { last_login_at_to: daysAgo(now, UNSEEN_DAYS) } },
  ],
  wordsOf: filterWords,
  more: async (context) => ({ groupChoices: await groupChoices(context) }),
});

const newCall = apiCall('POST', '/users', { username: 'grace', password: '…', email: 'grace@example.com' });

const showNew = shows('user-new', async (context) => {
  const settingOf = await readSettings(context);
  const minLength = minPasswordLength({
    password_min_length: Number(settingOf('password_min_length')?.value),
    auth_mode: String(settingOf('auth_mode')?.value),
    mfa_mode: String(settingOf('mfa_mode')?.value),
  });
  const page = { title: 'Add a user', here, crumbs: [crumb], values: {}, call: newCall, minLength };
  return page;
});

async function create(context: AdminContext): Promise<void> {
  const { form } = context;
  const { data } = await context.call(users.create, {
    body: {
      username: (form.get('username') ?? '').trim(),
      password: form.get('password') ?? '',
      email: textOrNull(form.get('email')),
      name: textOrNull(form.get('name')),
      role: form.get('role') ?? 'user',
      is_email_verified: isOn(form, 'is_email_verified'),
    },
  });
  context.go(`/users/${data.id}`, 'user-created');
}

/** A conflict is reported at the field that caused it. */
export function errorsOf(
  status: number,
  alert: string,
  errors: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (status !== 409) return errors;
  if (/username/i.test(alert)) return { username: alert };
  return /e-mail/i.test(alert) ? { email: alert } : errors;
}

export const userListPages: readonly Page[] = [
  list,
  ...formPages({
    path: '/users/new',
    show: showNew,
    showRefused(context, { values: { password: _, ...values }, alert, errors }, status) {
      return showNew(context, { values, alert, errors: errorsOf(status, alert, errors) }, status);
    },
    submit: create,
  }),
];
