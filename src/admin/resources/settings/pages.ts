// The pages of the runtime settings: one per group, generated from the schema, each value with its default, its bounds, and
// who changed it. Only changed values are sent, so that two administrators conflict only where they change the same setting;
// the page then reports the conflict and keeps what was typed.

import { isMembers } from '../../../json.ts';
import { ours } from '../../../phrase.ts';
import { definitionOf, isSettingKey } from '../../../settings/index.ts';
import { apiCall } from '../../pages/curl.ts';
import { durationIn, secondsIn } from '../../pages/durations.ts';
import { typedIn } from '../../pages/field-values.ts';
import { orShown } from '../../pages/form-pages.ts';
import type { AdminContext, Page, Values } from '../../pages/page.ts';
import { createNames } from '../names.ts';
import { showFound } from './found-page.ts';
import { here, readAll, written } from './groups.ts';
import { type GivenServer, saveServer, serverModel } from './mail-server-page.ts';
import { hasMailServer } from './read.ts';
import { type SettingView, settings as settingsResource } from './resource.ts';
import { inWords, labelOf, sentence, unitOf } from './words.ts';

async function changedBy(context: AdminContext, by: string): Promise<string> {
  const [kind = '', id = ''] = by.split(/:(.*)/s);
  return kind === 'user' ? (await createNames(context)(kind, id)).label : by.replace(/^bootstrap:/, '');
}

const choicesOf = (key: string): readonly { value: string; label: string }[] =>
  (isSettingKey(key) ? (definitionOf(key).choices ?? []) : []).map((value) => ({
    value,
    label: inWords(key, value),
  }));

/** What cannot work without a mail server. */
const NEEDS_MAIL: Readonly<Record<string, string>> = {
  allow_self_signup:
    'There is no mail server, so the code that verifies an address can’t be sent: nobody can sign up until one is connected.',
  allow_password_reset: 'There is no mail server, so no link to a new password can be sent.',
  allow_magic_link: 'There is no mail server, so no sign-in link can be sent.',
  allow_email_codes: 'There is no mail server, so no code can be sent.',
};

/** Of a switch that is on; who is about to open sign-up reads it before. */
const warningOf = (key: string, value: string): string =>
  value === 'on' || key === 'allow_self_signup' ? (NEEDS_MAIL[key] ?? '') : '';

interface Shown {
  readonly typed?: Readonly<Record<string, string>>;
  readonly errors?: Readonly<Record<string, string>>;
  readonly alert?: string | undefined;
  readonly stale?: readonly string[];
  readonly test?: Values;
  readonly server?: GivenServer;
}

async function showGroup(context: AdminContext, shown: Shown = {}, status = 200): Promise<void> {
  const { settings, groups } = await readAll(context);
  const group = groups.find(({ slug }) => slug === (context.params.group ?? groups[0]?.slug));
  if (group === undefined) return context.go('/settings');
  const { typed, stale = [], errors = {}, alert, test } = shown;
  const isMailOff = !hasMailServer((wanted) => settings.find(({ key }) => key === wanted));
  const fields = await Promise.all(
    settings
      .filter((setting) => setting.group === group.name)
      .map(async (setting) => {
        const { key } = setting;
        const now = written(setting.value);
        const isSeconds = key.endsWith('_seconds');
        const value = typed === undefined ? now : secondsIn((name) => typed[name], key);
        return {
          ...setting,
          label: labelOf(key),
          description: sentence(setting),
          isSeconds,
          duration: durationIn(typed ?? { [key]: now }, key),
          unit: unitOf(key),
          isOutOfRange: /^Must be a whole number/.test(errors[key] ?? ''),
          defaultWords: inWords(key, written(setting.default)),
          now,
          value: setting.is_secret ? '' : value,
          isSet: setting.updated_at !== null,
          isDefault: setting.value === setting.default,
          choices: choicesOf(key),
          isStale: stale.includes(key),
          warning: isMailOff ? warningOf(key, value) : '',
          by: setting.updated_by === null ? '' : await changedBy(context, setting.updated_by),
        };
      }),
  );
  const open = settings.filter((one) => one.group === group.name && !one.is_secret);
  const body = Object.fromEntries(open.map((one) => [one.key, one.value]));
  const call = apiCall('PATCH', '/settings', body);
  const labels = Object.fromEntries(fields.map(({ key, label }) => [key, label]));
  const spans = Object.fromEntries(
    fields.filter((field) => field.isSeconds && field.isOutOfRange).map((field) => [field.key, field]),
  );
  const model = {
    groups,
    group,
    fields,
    labels,
    spans,
    searched: '',
    call,
    typed: typed ?? {},
  };
  const title = `${ours(group.name)} settings`;
  const facts = group.slug === 'mail' ? fields.find(({ key }) => key === 'smtp_url') : undefined;
  const server = facts && context.canChange ? await serverModel(context, facts, shown.server) : undefined;
  context.show('settings', { title, here, ...model, errors, alert, stale, test, server }, status);
}

/** The value as the API expects it; text that is not a number stays text, so that the API names the field in its error. */
function valueFor(setting: SettingView, text: string): unknown {
  if (setting.type === 'boolean') return text === 'on';
  if (setting.type !== 'integer') return text.trim();
  return /^-?\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : text;
}

async function save(context: AdminContext): Promise<void> {
  const { form } = context;
  const { settings } = await readAll(context);
  const typed = typedIn(form);
  const body: Record<string, unknown> = {};
  const stale: string[] = [];
  for (const setting of settings) {
    const { key } = setting;
    const was = form.get(`was.${key}`);
    const text = secondsIn((name) => form.get(name), key);
    if (was === undefined) continue;
    if (setting.is_secret) {
      if (form.get(`clear.${key}`) === 'on') body[key] = '';
      else if (text !== '') body[key] = text;
    } else if (text !== was) {
      if (written(setting.value) !== was && written(setting.value) !== text) stale.push(key);
      body[key] = valueFor(setting, text);
    }
  }
  if (stale.length > 0) return showGroup(context, { typed, stale }, 412);
  const path = `/settings/${context.params.group ?? ''}`;
  if (Object.keys(body).length === 0) return context.go(path, 'settings-same');
  await context.call(settingsResource.change, { body });
  context.go(path, 'settings-saved');
}

const inMailGroup = (context: AdminContext): AdminContext => ({ ...context, params: { group: 'mail' } });

export const settingPages: readonly Page[] = [
  {
    method: 'GET',
    path: '/settings',
    async handle(context) {
      const text = (context.query.get('q') ?? '').trim();
      await (text === '' ? showGroup(context) : showFound(context, text));
    },
  },
  {
    method: 'POST',
    path: '/settings/mail/server',
    // As its route: before anything of the form is judged.
    isSensitive: true,
    formOn: { path: '/settings/mail' },
    handle: orShown(saveServer, (context, server, status) =>
      showGroup(inMailGroup(context), { server }, status),
    ),
  },
  {
    method: 'GET',
    path: '/settings/:group',
    async handle(context) {
      const { test } = (await context.once()) ?? {};
      await showGroup(context, isMembers(test) ? { test } : {});
    },
  },
  {
    method: 'POST',
    path: '/settings/:group',
    handle: orShown(save, (context, { values: typed, errors, alert }, status) =>
      showGroup(context, { typed, errors, alert }, status),
    ),
  },
];
