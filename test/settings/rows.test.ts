// Every setting, by HTTP and by the stored document, without the code that walks the rows: what a change takes, reading answers, the
// form shows, the document describes, export and import carry, and the event names.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { settingKeys } from '../../src/model/settings/settings.ts';
import * as model from '../../src/store/collections.ts';
import { Agent } from '../support/agent.ts';
import { apiDocument } from '../support/api-document.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

type Members = Readonly<Record<string, unknown>>;

let app: TestApp;
let admin: Agent;
let document: string;

before(async () => {
  app = await startApp({ limits: 'shipped' });
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const page = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(page, { username: 'root-admin', password: PASSWORD })).status, 200);
  document = JSON.stringify(apiDocument());
});
after(() => app.stop());

/** Values to try, the first that is taken and is not the default counts. */
const candidates = ({ type, default: standard, min }: Members): readonly unknown[] => {
  if (type === 'boolean') return [standard !== true];
  if (type === 'integer') return [standard === min ? Number(standard) + 1 : Number(standard) - 1];
  if (type === 'choice')
    return ['off', 'optional', 'required', 'password', 'hidden'].filter((one) => one !== standard);
  if (type === 'color') return ['#123456'];
  if (type === 'email') return ['planted@example.com'];
  if (type === 'url') return ['https://planted.example/help', 'smtp://planted.example:2525'];
  return ['planted.example', 'https://planted.example', 'Planted'];
};

const settingOf = async (key: string): Promise<Members> => {
  const { body } = await app.admin('GET', '/settings');
  const found = body.data.items?.find((one) => one.key === key);
  ok(found, key);
  return found;
};

const storedOf = async (key: string): Promise<unknown> => {
  const record = await app.store.collection(model.settings).find('current');
  const entry = record?.value.values[key];
  return typeof entry === 'object' && entry !== null && 'value' in entry ? entry.value : undefined;
};

/** Somebody who is signed in with one factor cannot see the form then. */
const FORM_IS_SHUT: ReadonlySet<string> = new Set(['admin_mfa']);

const slugOf = (group: unknown): string =>
  String(group)
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-');

function formShows(html: string, key: string, value: unknown, isSecret: boolean): boolean {
  const [control = ''] = new RegExp(`<(?:input|select)[^>]* name="${key}"[^>]*>`).exec(html) ?? [];
  if (control === '' || isSecret) return control !== '' && !html.includes(String(value));
  if (typeof value === 'boolean') return control.includes(' checked') === value;
  if (control.startsWith('<select'))
    return (
      html.slice(html.indexOf(control)).split('</select>')[0]?.includes(`value="${value}" selected`) === true
    );
  // A duration is shown by its longest unit; what it was is beside it, in seconds.
  return html.includes(`name="was.${key}" value="${value}"`);
}

/** @returns what of it does not say the value */
async function lacks(key: string): Promise<string[]> {
  const was = await settingOf(key);
  let value: unknown;
  for (const candidate of candidates(was)) {
    const { status } = await app.admin('PATCH', '/settings', { [key]: candidate });
    if (status === 200) {
      value = candidate;
      break;
    }
  }
  const missing: string[] = [];
  const note = (isThere: boolean, what: string): void => {
    if (!isThere) missing.push(`${key}: ${what}`);
  };
  const isSecret = was.is_secret === true;
  const now = await settingOf(key);
  note(value !== undefined, 'no value is taken');
  note(isSecret ? now.value === null : now.value === value, 'GET answers it');
  note(typeof now.updated_by === 'string', 'GET says who set it');
  const stored = await storedOf(key);
  note(
    isSecret ? typeof stored === 'string' && !stored.includes(String(value)) : stored === value,
    'is stored',
  );
  const events = await app.admin('GET', '/audit?event=settings.changed&limit=1');
  const event = JSON.stringify(events.body.data.items?.[0] ?? {});
  note(event.includes(`"${key}"`) && !(isSecret && event.includes(String(value))), 'the event names it');
  note(
    document.includes(`"${key}":{"description":${JSON.stringify(now.description)}`),
    'OpenAPI describes it',
  );
  const exported = await app.admin('GET', '/settings/export');
  const { values } = exported.body.data;
  ok(typeof values === 'object' && values !== null);
  const carried = new Map<string, unknown>(Object.entries(values)).get(key);
  note(isSecret ? carried === undefined : carried === value, 'the export has it');
  if (!FORM_IS_SHUT.has(key)) {
    const page = await admin.get(`/admin/settings/${slugOf(now.group)}`);
    // The mail server has a form of its own.
    note(isSecret || formShows(page.body, key, value, isSecret), 'the form shows it');
  }
  await app.admin('PATCH', '/settings', { [key]: null });
  note((await settingOf(key)).value === (isSecret ? null : was.default), 'null is the default');
  note((await storedOf(key)) === undefined || key === 'require_pkce', 'the default is not stored');
  await app.admin('POST', '/settings/import', { values });
  note(isSecret || (await settingOf(key)).value === value, 'the import sets it');
  await app.admin('PATCH', '/settings', { [key]: null });
  return missing;
}

test('settings: every one is taken, answered, shown, described, exported, imported and reported', async () => {
  const missing: string[] = [];
  for (const key of settingKeys) missing.push(...(await lacks(key)));
  deepEqual(missing, []);
});

test('settings: an unknown name is refused, beside a valid one too, and nothing is written', async () => {
  const was = await settingOf('product_name');
  const { status, body } = await app.admin('PATCH', '/settings', { product_name: 'X', planted: 1 });
  equal(status, 400);
  deepEqual(body.error?.fields, { planted: 'Unknown setting.' });
  deepEqual(await settingOf('product_name'), was);
});

test('settings: the check finds a form without the value', async () => {
  const page = await admin.get('/admin/settings/branding');
  match(page.body, /name="was\.product_name"/);
  equal(formShows(page.body, 'product_name', 'Latchkey', false), true);
  equal(formShows(page.body, 'product_name', 'Planted', false), false);
  equal(formShows(page.body, 'planted', 'Latchkey', false), false);
});
