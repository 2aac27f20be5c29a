// The runtime settings (decision 0010), all of them one item. src/settings defines the settings and their valid values.
import {
  Number as NumberSchema,
  Record as RecordSchema,
  type Static,
  type TSchemaOptions,
  Union,
  Unknown,
} from 'typebox';
import { AppError } from '../../../errors.ts';
import { memberOf } from '../../../json.ts';
import { settingKeys, settingNamed } from '../../../model/settings/settings.ts';
import type { SettingChange } from '../../../settings/index.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import type { Actor, AdminPorts } from '../../api/ports.ts';
import {
  array,
  boolean,
  DOCUMENTED,
  object,
  optional,
  orNull,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';
import { isShownForm, valuesOfItems } from './given-values.ts';
import { documentedChange, documentedValues } from './keywords.ts';

const value = () => Union([boolean(), NumberSchema(), string()]);

const settingSchema = object(
  {
    key: string({
      description: 'The name of the setting.',
      [DOCUMENTED]: { enum: settingKeys },
    }),
    value: orNull(value(), 'The value that applies; null: it is secret.'),
    default: Union(value().anyOf, { description: 'The value that applies while none is set.' }),
    type: string('The type, such as `integer`, `boolean`, `choice`, `text` or `url`.'),
    min: orNull(NumberSchema(), 'The smallest number, or the fewest characters.'),
    max: orNull(NumberSchema(), 'The largest number, or the most characters.'),
    description: string('What it does.'),
    group: string('The section of the Admin UI that shows it.'),
    is_secret: boolean('Whether it is write-only: its value is shown as null.'),
    updated_at: timestampOrNull('When it was last set; null: the default applies.'),
    updated_by: stringOrNull('Who set it, as `kind:id`.'),
  },
  'A runtime setting.',
);
export type SettingView = Static<typeof settingSchema>;
const allSchema = object({ items: array(settingSchema, 'All settings.') }, 'The runtime settings.');
// src/settings validates keys and values.
const anyValues = (options: TSchemaOptions = {}) => RecordSchema(string(), Unknown(), options);
const changeBody = anyValues({ [DOCUMENTED]: documentedChange(settingSchema) });
const description = 'Values by the names of the settings.';
const exportSchema = object({ values: anyValues({ description }) }, 'What an import accepts.');
const importBody = object({ values: anyValues({ description, [DOCUMENTED]: documentedValues }) });

const changeSchema = object({
  key: string('The name of the setting.'),
  from: orNull(value(), 'The value before; null: it is secret.'),
  to: orNull(value(), 'The value after; null: it is secret.'),
});
export type SettingChangeView = Static<typeof changeSchema>;
const importedSchema = object(
  {
    dry_run: boolean('Whether this was a dry run, which changes nothing.'),
    changes: array(changeSchema, 'The settings whose value changes.'),
  },
  'What the import changes.',
);

export const nameOf = ({ kind, id }: Actor): string => `${kind}:${id}`;

async function describe({ settingsInStore: settings }: AdminPorts) {
  await settings.refresh();
  return { data: { items: settings.describe() }, version: settings.version() };
}

const importedOf = (dryRun: boolean, changes: readonly SettingChange[]) => ({
  data: { dry_run: dryRun, changes: changes.map(({ key, from, to }) => ({ key, from, to })) },
});

const isDryRun = (query: unknown): boolean => memberOf(query, 'dry_run') === true;

const described = { answer: allSchema, hasVersion: true } as const;
/** All of them are one versioned item. */
const changing = {
  hasTarget: true,
  recorded: { event: 'settings.changed', target: 'setting', view: 'settings' },
} as const;

export const settings = defineRoutes('Settings', (on) => {
  const write = (method: 'PUT' | 'PATCH', act: 'replaceAll' | 'patch', summary: string) =>
    on.route(`${method} /settings`, {
      ...changing,
      summary,
      body: changeBody,
      ...described,
      async run({ body, actor, ifVersion }, ports) {
        const { values, kept } = isShownForm(body)
          ? valuesOfItems(body, (await describe(ports)).data.items)
          : { values: body, kept: undefined };
        await ports.passkeys.checkAuthMode(values);
        await ports.settingsInStore[act](values, nameOf(actor), { ifVersion, ...(kept && { kept }) });
        return describe(ports);
      },
    });

  return {
    read: on.route('GET /settings', {
      summary: 'Read all settings',
      ...described,
      run: (_, ports) => describe(ports),
    }),
    replace: write('PUT', 'replaceAll', 'Replace all settings: those not given return to their defaults'),
    change: write('PATCH', 'patch', 'Change the given settings'),
    export: on.route('GET /settings/export', {
      summary: 'Export all settings except secrets',
      answer: exportSchema,
      async run(_, ports) {
        const { items } = (await describe(ports)).data;
        const shown = items.filter(({ key }) => settingNamed(key)?.isExported === true);
        return { data: { values: Object.fromEntries(shown.map(({ key, value }) => [key, value])) } };
      },
    }),
    import: on.route('POST /settings/import', {
      ...changing,
      summary:
        'Import settings, all or none; settings missing from the export, such as secrets, keep their values',
      query: object({
        dry_run: optional(
          boolean({ default: false, description: 'Only validate, and report what would change.' }),
        ),
      }),
      body: importBody,
      answer: importedSchema,
      isDryRun: ({ query }) => isDryRun(query),
      async run({ query, body, actor, ifVersion }, { settingsInStore: settings, passkeys }) {
        await settings.refresh();
        const isDry = isDryRun(query);
        if (isDry && ifVersion !== undefined && ifVersion !== settings.version())
          throw new AppError('setting.changed');
        await passkeys.checkAuthMode(body.values);
        if (isDry) return importedOf(true, await settings.preview(body.values));
        return importedOf(false, await settings.patch(body.values, nameOf(actor), { ifVersion }));
      },
    }),
  };
});
