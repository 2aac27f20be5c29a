// Owns the routes of the runtime settings (decisions §6). Which settings there are and what they may be is src/settings.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Null,
  Number as NumberSchema,
  Object as ObjectSchema,
  Record as RecordSchema,
  String as StringSchema,
  type TSchema,
  Union,
  Unknown,
} from 'typebox';
import type { Settings } from '../settings/settings.ts';
import type { Actor } from './ports.ts';
import { defineRoute, type Route } from './route.ts';

export type SettingsPort = Pick<Settings, 'refresh' | 'describe' | 'patch' | 'replaceAll'>;

const strict = { additionalProperties: false } as const;
const orNull = <S extends TSchema>(schema: S) => Union([schema, Null()]);
const value = () => Union([BooleanSchema(), NumberSchema(), StringSchema()]);

const settingSchema = ObjectSchema(
  {
    key: StringSchema(),
    value: orNull(value()),
    default: value(),
    type: StringSchema(),
    min: orNull(NumberSchema()),
    max: orNull(NumberSchema()),
    description: StringSchema(),
    group: StringSchema(),
    is_secret: BooleanSchema({ description: 'Write-only: its value is answered as null.' }),
    updated_at: orNull(StringSchema({ format: 'date-time' })),
    updated_by: orNull(StringSchema()),
  },
  strict,
);
const allSchema = ObjectSchema({ items: ArraySchema(settingSchema) }, strict);
// Which keys there are and what their values may be is for src/settings to say.
const valuesSchema = RecordSchema(StringSchema(), Unknown());
const exportSchema = ObjectSchema({ values: valuesSchema }, strict);

const tag = 'Settings';
const nameOf = ({ kind, id }: Actor): string => `${kind}:${id}`;

export function settingRoutes({ settings }: { readonly settings: SettingsPort }): Route[] {
  const describe = async () => {
    await settings.refresh();
    return { data: { items: settings.describe() } };
  };
  const write = (method: 'PUT' | 'PATCH', summary: string): Route =>
    defineRoute({
      method,
      path: '/settings',
      tag,
      summary,
      body: valuesSchema,
      success: { status: 200, schema: allSchema },
      handle: async ({ body, actor }) => {
        await (method === 'PUT'
          ? settings.replaceAll(body, nameOf(actor))
          : settings.patch(body, nameOf(actor)));
        return describe();
      },
    });

  return [
    defineRoute({
      method: 'GET',
      path: '/settings',
      tag,
      summary: 'Read all settings',
      success: { status: 200, schema: allSchema },
      handle: describe,
    }),
    write('PUT', 'Replace all settings: those not given go back to their defaults'),
    write('PATCH', 'Change the given settings'),
    defineRoute({
      method: 'GET',
      path: '/settings/export',
      tag,
      summary: 'Export all settings but the secrets',
      success: { status: 200, schema: exportSchema },
      handle: async () => {
        const { items } = (await describe()).data;
        const shown = items.filter(({ is_secret: isSecret }) => !isSecret);
        return { data: { values: Object.fromEntries(shown.map(({ key, value }) => [key, value])) } };
      },
    }),
  ];
}
