// The signing keys. Private keys are never returned.
import {
  Array as ArraySchema,
  Enum,
  Literal,
  Object as ObjectSchema,
  Optional,
  type Static,
  String as StringSchema,
} from 'typebox';
import type { Keys, KeyView } from '../../../keys/index.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import { iso, isoOrNull, nullable, strict, timestamp } from '../../api/schema-parts.ts';

interface Ports {
  readonly keys: Pick<Keys, 'list' | 'rotate'>;
}

const keySchema = ObjectSchema(
  {
    kid: StringSchema({ description: 'The key ID in tokens and in the JWKS.' }),
    alg: Literal('RS256'),
    state: Enum(['next', 'current', 'retired']),
    created_at: timestamp(),
    activates_at: nullable(timestamp(), { description: 'When a `next` key starts to sign.' }),
    activated_at: nullable(timestamp(), { description: 'When it started to sign.' }),
    retired_at: nullable(timestamp(), { description: 'When it stopped signing.' }),
    removed_at: nullable(timestamp(), {
      description: 'Until when a retired key is published: as long as a token that it signed can be valid.',
    }),
  },
  strict,
);
export type SigningKey = Static<typeof keySchema>;

const all = { status: 200, schema: ObjectSchema({ items: ArraySchema(keySchema) }, strict) } as const;

const show = (key: KeyView) => ({
  kid: key.kid,
  alg: key.alg,
  state: key.state,
  created_at: iso(key.createdAt),
  activates_at: isoOrNull(key.activatesAt),
  activated_at: isoOrNull(key.activatedAt),
  retired_at: isoOrNull(key.retiredAt),
  removed_at: isoOrNull(key.removedAt),
});

const list = async ({ keys }: Ports) => ({ data: { items: (await keys.list()).map(show) } });

export const signingKeys = defineRoutes('Keys', (on: RouteKit<Ports>) => ({
  list: on.route({
    method: 'GET',
    path: '/keys',
    sensitivity: 'plain',
    summary: 'List the signing keys: next, current, and retired ones that are still published',
    success: all,
    run: (_, ports) => list(ports),
  }),
  rotate: on.route({
    method: 'POST',
    path: '/keys/rotate',
    sensitivity: 'sensitive',
    summary: 'Rotate the signing keys',
    recorded: { event: 'key.rotation_requested', target: 'key' },
    body: ObjectSchema(
      {
        mode: Optional(
          Enum(['gradual', 'immediate', 'compromised'], {
            description:
              'gradual (default): the new key is published for a quarter of an hour before it signs. immediate: it signs ' +
              'within seconds. compromised: it signs immediately, and every token that the old key signed is revoked.',
          }),
        ),
      },
      strict,
    ),
    isBodyOptional: true,
    success: all,
    async run({ body }, ports) {
      await ports.keys.rotate(body.mode ?? 'gradual');
      return list(ports);
    },
  }),
}));
