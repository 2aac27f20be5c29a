// The runtime settings (decisions §6), all of them one item. src/settings defines the settings and their valid values.

import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Number as NumberSchema,
  Object as ObjectSchema,
  Optional,
  Record as RecordSchema,
  type Static,
  String as StringSchema,
  type TSchemaOptions,
  Union,
  Unknown,
} from 'typebox';
import { AppError } from '../../../errors.ts';
import { memberOf } from '../../../json.ts';
import { settingKeys, settingNamed } from '../../../model/settings/settings.ts';
import type { Passkeys } from '../../../passkeys/index.ts';
import type { SettingChange, Settings } from '../../../settings/index.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import type { Actor } from '../../api/ports.ts';
import { DOCUMENTED, nullable, strict, timestamp } from '../../api/schema-parts.ts';
import { isShownForm, valuesOfItems } from './given-values.ts';
import { documentedChange, documentedValues } from './keywords.ts';

export type SettingsPort = Pick<
  Settings,
  'refresh' | 'current' | 'describe' | 'patch' | 'replaceAll' | 'preview' | 'version'
>;

const value = () => Union([BooleanSchema(), NumberSchema(), StringSchema()]);

const settingSchema = ObjectSchema(
  {
    key: StringSchema({
      description: 'The name of the setting.',
      [DOCUMENTED]: { enum: settingKeys },
    }),
    value: nullable(value(), { description: 'The value that applies; null: it is secret.' }),
    default: Union(value().anyOf, { description: 'The value that applies while none is set.' }),
    type: StringSchema({ description: 'The type, such as `integer`, `boolean`, `choice`, `text` or `url`.' }),
    min: nullable(NumberSchema(), { description: 'The smallest number, or the fewest characters.' }),
    max: nullable(NumberSchema(), { description: 'The largest number, or the most characters.' }),
    description: StringSchema({ description: 'What it does.' }),
    group: StringSchema({ description: 'The section of the Admin UI that shows it.' }),
    is_secret: BooleanSchema({ description: 'Whether it is write-only: its value is shown as null.' }),
    updated_at: nullable(timestamp(), { description: 'When it was last set; null: the default applies.' }),
    updated_by: nullable(StringSchema(), { description: 'Who set it, as `kind:id`.' }),
  },
  { ...strict, description: 'A runtime setting.' },
);
export type SettingView = Static<typeof settingSchema>;
const allSchema = ObjectSchema(
  { items: ArraySchema(settingSchema, { description: 'All settings.' }) },
  { ...strict, description: 'The runtime settings.' },
);
// src/settings validates keys and values.
const anyValues = (options: TSchemaOptions = {}) => RecordSchema(StringSchema(), Unknown(), options);
const changeBody = anyValues({ [DOCUMENTED]: documentedChange(settingSchema) });
const description = 'Values by the names of the settings.';
const exportSchema = ObjectSchema(
  { values: anyValues({ description }) },
  { ...strict, description: 'What an import accepts.' },
);
const importBody = ObjectSchema(
  { values: anyValues({ description, [DOCUMENTED]: documentedValues }) },
  strict,
);

const changeSchema = ObjectSchema(
  {
    key: StringSchema({ description: 'The name of the setting.' }),
    from: nullable(value(), { description: 'The value before; null: it is secret.' }),
    to: nullable(value(), { description: 'The value after; null: it is secret.' }),
  },
  strict,
);
export type SettingChangeView = Static<typeof changeSchema>;
const importedSchema = ObjectSchema(
  {
    dry_run: BooleanSchema({ description: 'Whether this was a dry run, which changes nothing.' }),
    changes: ArraySchema(changeSchema, { description: 'The settings whose value changes.' }),
  },
  { ...strict, description: 'What the import changes.' },
);

export const nameOf = ({ kind, id }: Actor): string => `${kind}:${id}`;

interface Ports {
  readonly settings: SettingsPort;
  readonly passkeys: Pick<Passkeys, 'checkAuthMode'>;
}

async function describe({ settings }: Ports) {
  await settings.refresh();
  return { data: { items: settings.describe() }, version: settings.version() };
}

const importedOf = (dryRun: boolean, changes: readonly SettingChange[]) => ({
  data: { dry_run: dryRun, changes: changes.map(({ key, from, to }) => ({ key, from, to })) },
});

const isDryRun = (query: unknown): boolean => memberOf(query, 'dry_run') === true;

const described = { status: 200, schema: allSchema, hasVersion: true } as const;
/** All of them are one versioned item. */
const changing = {
  hasTarget: true,
  recorded: { event: 'settings.changed', target: 'setting', view: 'settings' },
} as const;

export const settings = defineRoutes('Settings', (on: RouteKit<Ports>) => {
  const write = (method: 'PUT' | 'PATCH', act: 'replaceAll' | 'patch', summary: string) =>
    on.route({
      ...changing,
      method,
      path: '/settings',
      summary,
      body: changeBody,
      success: described,
      async run({ body, actor, ifVersion }, ports) {
        const { values, kept } = isShownForm(body)
          ? valuesOfItems(body, (await describe(ports)).data.items)
          : { values: body, kept: undefined };
        await ports.passkeys.checkAuthMode(values);
        await ports.settings[act](values, nameOf(actor), { ifVersion, ...(kept && { kept }) });
        return describe(ports);
      },
    });

  return {
    read: on.route({
      method: 'GET',
      path: '/settings',
      summary: 'Read all settings',
      success: described,
      run: (_, ports) => describe(ports),
    }),
    replace: write('PUT', 'replaceAll', 'Replace all settings: those not given return to their defaults'),
    change: write('PATCH', 'patch', 'Change the given settings'),
    export: on.route({
      method: 'GET',
      path: '/settings/export',
      summary: 'Export all settings except secrets',
      success: { status: 200, schema: exportSchema },
      async run(_, ports) {
        const { items } = (await describe(ports)).data;
        const shown = items.filter(({ key }) => settingNamed(key)?.isExported === true);
        return { data: { values: Object.fromEntries(shown.map(({ key, value }) => [key, value])) } };
      },
    }),
    import: on.route({
      ...changing,
      method: 'POST',
      path: '/settings/import',
      summary:
        'Import settings, all or none; settings missing from the export, such as secrets, keep their values',
      query: ObjectSchema(
        {
          dry_run: Optional(
            BooleanSchema({ default: false, description: 'Only validate, and report what would change.' }),
          ),
        },
        strict,
      ),
      body: importBody,
      success: { status: 200, schema: importedSchema },
      isDryRun: ({ query }) => isDryRun(query),
      async run({ query, body, actor, ifVersion }, { settings, passkeys }) {
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
