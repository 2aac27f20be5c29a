// The pages that move settings between installations: the export as a file, and the import, which shows every difference
// and every problem before it changes anything.
import { invalid } from '../../../errors.ts';
import { isMembers, parseJson } from '../../../json.ts';
import { refusalOf, versionOf } from '../../pages/field-values.ts';
import { type AdminContext, get, type Page, post, type Values } from '../../pages/page.ts';
import { type SettingChangeView, type SettingView, settings } from './resource.ts';

const here = 'settings';
const crumbs = [{ label: 'Settings', href: '/settings' }];
const FORM_BYTES = 512 * 1024;

async function download(context: AdminContext): Promise<void> {
  const { data } = await context.call(settings.export, {});
  const day = new Date(context.now).toISOString().slice(0, 10);
  context.ctx.type = 'application/json';
  context.ctx.set('Content-Disposition', `attachment; filename="latchkey-settings-${day}.json"`);
  context.ctx.body = `${JSON.stringify(data, null, 2)}\n`;
}

const showImport = (context: AdminContext, shown: object = {}, status = 200): void =>
  context.show(
    'settings-import',
    { title: 'Import settings', here, crumbs, json: '', changes: undefined, version: '', ...shown },
    status,
  );

/** Reads an export, with or without the API's envelope. @throws AppError naming the field */
function valuesIn(text: string): Values {
  let given: unknown;
  try {
    given = parseJson(text);
  } catch {
    throw invalid({ json: 'Not valid JSON.' });
  }
  const inner = isMembers(given) && isMembers(given.data) ? given.data : given;
  if (isMembers(inner) && isMembers(inner.values)) return inner.values;
  const problem = 'Must be an object with a member “values”, like an export.';
  throw invalid({ json: problem });
}

const shown = (value: unknown): string => {
  if (value === true || value === false) return value ? 'on' : 'off';
  return value === '' ? 'empty' : String(value);
};

/** Describes each change, and whether it restores the default. */
const changesOf = (changes: readonly SettingChangeView[], settings: readonly SettingView[]) =>
  changes.map(({ key, from, to }) => {
    const setting = settings.find((one) => one.key === key);
    return {
      key,
      group: setting?.group ?? '',
      from: shown(from),
      to: shown(to),
      isDefault: to === setting?.default,
    };
  });

/** Previews first; applying requires that the settings have not changed since the preview. */
async function importSettings(context: AdminContext): Promise<void> {
  const json = context.form.get('json') ?? '';
  const isApplied = context.form.get('step') === 'apply';
  const version = versionOf(context.form);
  try {
    const values = valuesIn(json);
    const body = { values };
    if (isApplied && version !== undefined) {
      await context.call(settings.import, { body, ifVersion: version });
      return context.go('/settings', 'settings-imported');
    }
    await showDifference(context, json, values);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    if (status === 412) {
      const stale = 'The settings were changed in the meantime. These are the changes now.';
      return showDifference(context, json, valuesIn(json), { alert: stale }, 412);
    }
    showImport(
      context,
      { json, errors, alert: Object.keys(errors).length > 0 ? problemsOf(errors) : alert },
      status,
    );
  }
}

const problemsOf = (errors: Readonly<Record<string, string>>): string => {
  const count = Object.keys(errors).length;
  return `Nothing was changed: ${count === 1 ? 'there is a problem' : `there are ${count} problems`} with your input.`;
};

async function showDifference(
  context: AdminContext,
  json: string,
  values: Values,
  shown: object = {},
  status = 200,
) {
  const { data: described, version } = await context.call(settings.read, {});
  const { data } = await context.call(settings.import, {
    query: { dry_run: 'true' },
    body: { values },
  });
  const changes = changesOf(data.changes, described.items);
  const given = Object.keys(values).length;
  showImport(context, { json, changes, given, version: version ?? '', ...shown }, status);
}

export const settingTransferPages: readonly Page[] = [
  get('/settings/export', download),
  get('/settings/import', async (context) => showImport(context), { needs: 'admin' }),
  post('/settings/import', importSettings, { formBytes: FORM_BYTES }),
];
