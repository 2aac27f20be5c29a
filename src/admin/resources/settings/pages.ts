// The pages of the runtime settings: one per group, generated from the schema, each value with its default, its bounds, and
// who changed it. Only changed values are sent, so that two administrators conflict only where they change the same setting;
// the page then reports the conflict and keeps what was typed.

import { isMembers } from '../../../json.ts';
import { settingNamed } from '../../../model/settings/settings.ts';
import { ours } from '../../../phrase.ts';
import { apiCall } from '../../pages/curl.ts';
import { durationIn, secondsIn } from '../../pages/durations.ts';
import { typedIn } from '../../pages/field-values.ts';
import { orShown } from '../../pages/form-pages.ts';
import { type AdminContext, get, type Page, post, type Values } from '../../pages/page.ts';
import { createNames } from '../names.ts';
import { showFound } from './found-page.ts';
import { here, readAll, written } from './groups.ts';
import { type GivenServer, saveServer, serverModel } from './mail-server-page.ts';
import { hasMailServer } from './read.ts';
import { settings as settingsResource } from './resource.ts';
import { inWords, labelOf, sentence } from './words.ts';

async function changedBy(context: AdminContext, by: string): Promise<string> {
  const [kind = '', id = ''] = by.split(/:(.*)/s);
  return kind === 'user' ? (await createNames(context)(kind, id)).label : by.replace(/^bootstrap:/, '');
}

const choicesOf = (key: string): readonly { value: string; label: string }[] => {
  const { control, words = {} } = settingNamed(key)?.kind ?? {};
  return control === 'select' ? Object.entries(words).map(([value, label]) => ({ value, label })) : [];
};

/** Of a switch that is on; who is about to turn on what does not say so reads it before. */
function warningOf(key: string, value: string, storedOf: (name: string) => string): string {
  const { says = '', isSaidBefore = false, at = 'on', onlyWith } = settingNamed(key)?.withoutMail ?? {};
  const isAlone =
    onlyWith === undefined || Object.entries(onlyWith).some(([name, one]) => storedOf(name) === one);
  return isAlone && (value === at || isSaidBefore) ? says : '';
}

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
  const storedOf = (name: string): string => written(settings.find(({ key }) => key === name)?.value ?? null);
  const fields = await Promise.all(
    settings
      .filter((setting) => setting.group === group.name)
      .map(async (setting) => {
        const { key } = setting;
        const now = written(setting.value);
        const isSeconds = settingNamed(key)?.unit === 'seconds';
        const value = typed === undefined ? now : secondsIn((name) => typed[name], key);
        return {
          ...setting,
          label: labelOf(key),
          description: sentence(setting),
          isSeconds,
          duration: durationIn(typed ?? { [key]: now }, key),
          unit: isSeconds ? '' : (settingNamed(key)?.unit ?? ''),
          isOutOfRange: /^Must be a whole number/.test(errors[key] ?? ''),
          defaultWords: inWords(key, written(setting.default)),
          now,
          value: setting.is_secret ? '' : value,
          isSet: setting.updated_at !== null,
          isDefault: setting.value === setting.default,
          choices: choicesOf(key),
          isStale: stale.includes(key),
          warning: isMailOff ? warningOf(key, value, storedOf) : '',
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
      body[key] = settingNamed(key)?.kind.typed?.(text.trim()) ?? text.trim();
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
  get('/settings', async (context) => {
    const text = (context.query.get('q') ?? '').trim();
    await (text === '' ? showGroup(context) : showFound(context, text));
  }),
  post(
    '/settings/mail/server',
    orShown(saveServer, (context, server, status) => showGroup(inMailGroup(context), { server }, status)),
    {
      // As its route: before anything of the form is judged.
      isSensitive: true,
      formOn: { path: '/settings/mail' },
    },
  ),
  get('/settings/:group', async (context) => {
    const { test } = (await context.once()) ?? {};
    await showGroup(context, isMembers(test) ? { test } : {});
  }),
  post(
    '/settings/:group',
    orShown(save, (context, { values: typed, errors, alert }, status) =>
      showGroup(context, { typed, errors, alert }, status),
    ),
  ),
];
