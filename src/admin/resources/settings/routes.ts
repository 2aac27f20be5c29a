// The routes of the runtime settings (decisions §6). src/settings defines the settings and their valid values.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Number as NumberSchema,
  Object as ObjectSchema,
  Optional,
  Record as RecordSchema,
  String as StringSchema,
  Union,
  Unknown,
} from 'typebox';
import { AppError } from '../../../errors.ts';
import type { Passkeys } from '../../../passkeys/index.ts';
import type { SettingChange, Settings } from '../../../settings/index.ts';
import type { Actor } from '../../api/ports.ts';
import { defineRoute, type Route } from '../../api/route.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';

export type SettingsPort = Pick<
  Settings,
  'refresh' | 'describe' | 'patch' | 'replaceAll' | 'preview' | 'version'
>;

const value = () => Union([BooleanSchema(), NumberSchema(), StringSchema()]);

const settingSchema = ObjectSchema(
  {
    key: StringSchema(),
    value: nullable(value()),
    default: value(),
    type: StringSchema(),
    min: nullable(NumberSchema()),
    max: nullable(NumberSchema()),
    description: StringSchema(),
    group: StringSchema(),
    is_secret: BooleanSchema({ description: 'Write-only: its value is answered as null.' }),
    updated_at: nullable(timestamp()),
    updated_by: nullable(StringSchema()),
  },
  strict,
);
const allSchema = ObjectSchema({ items: ArraySchema(settingSchema) }, strict);
// src/settings validates keys and values.
const valuesSchema = RecordSchema(StringSchema(), Unknown());
const exportSchema = ObjectSchema({ values: valuesSchema }, strict);

const importedSchema = ObjectSchema(
  {
    dry_run: BooleanSchema({ description: 'Whether nothing was changed, only looked at.' }),
    changes: ArraySchema(
      ObjectSchema({ key: StringSchema(), from: nullable(value()), to: nullable(value()) }, strict),
    ),
  },
  strict,
);

const tag = 'Settings';
const nameOf = ({ kind, id }: Actor): string => `${kind}:${id}`;

interface Deps {
  readonly settings: SettingsPort;
  readonly passkeys: Pick<Passkeys, 'checkAuthMode'>;
}

export function settingRoutes({ settings, passkeys }: Deps): Route[] {
  const describe = async () => {
    await settings.refresh();
    return { data: { items: settings.describe() }, version: settings.version() };
  };
  const write = (method: 'PUT' | 'PATCH', summary: string): Route =>
    defineRoute({
      method,
      path: '/settings',
      hasTarget: true,
      sensitivity: 'sensitive',
      tag,
      summary,
      body: valuesSchema,
      success: { status: 200, schema: allSchema, hasVersion: true },
      handle: async ({ body, actor, ifVersion }) => {
        await passkeys.checkAuthMode(body);
        await (method === 'PUT'
          ? settings.replaceAll(body, nameOf(actor), { ifVersion })
          : settings.patch(body, nameOf(actor), { ifVersion }));
        return describe();
      },
    });

  return [
    defineRoute({
      method: 'GET',
      path: '/settings',
      sensitivity: 'plain',
      tag,
      summary: 'Read all settings',
      success: { status: 200, schema: allSchema, hasVersion: true },
      handle: describe,
    }),
    write('PUT', 'Replace all settings: those not given go back to their defaults'),
    write('PATCH', 'Change the given settings'),
    defineRoute({
      method: 'GET',
      path: '/settings/export',
      sensitivity: 'plain',
      tag,
      summary: 'Export all settings but the secrets',
      success: { status: 200, schema: exportSchema },
      handle: async () => {
        const { items } = (await describe()).data;
        const shown = items.filter(({ is_secret: isSecret }) => !isSecret);
        return { data: { values: Object.fromEntries(shown.map(({ key, value }) => [key, value])) } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/settings/import',
      hasTarget: true,
      sensitivity: { when: 'unless dry_run', is: ({ query }) => !isDryRun(query) },
      tag,
      summary:
        'Import settings, all or nothing; settings that the export lacks, such as secrets, keep their values',
      query: ObjectSchema({ dry_run: Optional(BooleanSchema({ default: false })) }, strict),
      body: exportSchema,
      success: { status: 200, schema: importedSchema },
      isTrial: ({ query }) => isDryRun(query),
      handle: async ({ query, body, actor, ifVersion }) => {
        await settings.refresh();
        const isTrial = isDryRun(query);
        if (isTrial && ifVersion !== undefined && ifVersion !== settings.version())
          throw new AppError('setting.changed');
        await passkeys.checkAuthMode(body.values);
        if (isTrial) return importedOf(true, await settings.preview(body.values));
        return importedOf(false, await settings.patch(body.values, nameOf(actor), { ifVersion }));
      },
    }),
  ];
}

const isDryRun = (query: unknown): boolean =>
  typeof query === 'object' && query !== null && Reflect.get(query, 'dry_run') === true;

const importedOf = (dryRun: boolean, changes: readonly SettingChange[]) => ({
  data: { dry_run: dryRun, changes: changes.map(({ key, from, to }) => ({ key, from, to })) },
});
