// The routes of the signing keys: list and rotate. Private keys are never returned.
import {
  Array as ArraySchema,
  Enum,
  Literal,
  Object as ObjectSchema,
  Optional,
  String as StringSchema,
} from 'typebox';
import type { KeyView, RotationMode } from '../../../keys/index.ts';
import { defineRoute, type Route } from '../../api/route.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';

export interface KeysPort {
  list(): Promise<KeyView[]>;
  rotate(mode: RotationMode): Promise<void>;
}

const keySchema = ObjectSchema(
  {
    kid: StringSchema({ description: 'As tokens and the JWKS name it.' }),
    alg: Literal('RS256'),
    state: Enum(['next', 'current', 'retired']),
    created_at: timestamp(),
    activates_at: nullable(timestamp(), { description: 'Of a next key: when it begins to sign.' }),
    activated_at: nullable(timestamp(), { description: 'When it began to sign.' }),
    retired_at: nullable(timestamp(), { description: 'When it signed for the last time.' }),
    removed_at: nullable(timestamp(), {
      description:
        'Of a retired key: until when it is shown, which is as long as a token of it may be valid.',
    }),
  },
  strict,
);
const allSchema = ObjectSchema({ items: ArraySchema(keySchema) }, strict);

const toTime = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

const toKey = (key: KeyView) => ({
  kid: key.kid,
  alg: key.alg,
  state: key.state,
  created_at: new Date(key.createdAt).toISOString(),
  activates_at: toTime(key.activatesAt),
  activated_at: toTime(key.activatedAt),
  retired_at: toTime(key.retiredAt),
  removed_at: toTime(key.removedAt),
});

const tag = 'Keys';

export function keyRoutes({ keys }: { readonly keys: KeysPort }): Route[] {
  const list = async () => ({ data: { items: (await keys.list()).map(toKey) } });
  return [
    defineRoute({
      method: 'GET',
      path: '/keys',
      sensitivity: 'plain',
      tag,
      summary: 'List the signing keys: next, current, and retired ones that are still published',
      success: { status: 200, schema: allSchema },
      handle: list,
    }),
    defineRoute({
      method: 'POST',
      path: '/keys/rotate',
      sensitivity: 'sensitive',
      tag,
      summary: 'Rotate the signing keys',
      body: ObjectSchema(
        {
          mode: Optional(
            Enum(['gradual', 'immediate', 'compromised'], {
              description:
                'gradual (default): the new key is shown for a quarter of an hour before it signs. immediate: it signs ' +
                'within seconds. compromised: it signs at once, and every token that the old key signed ends.',
            }),
          ),
        },
        strict,
      ),
      isBodyOptional: true,
      success: { status: 200, schema: allSchema },
      handle: async ({ body }) => {
        await keys.rotate(body.mode ?? 'gradual');
        return list();
      },
    }),
  ];
}
