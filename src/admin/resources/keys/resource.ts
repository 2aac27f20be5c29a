// The signing keys. Private keys are never returned.
import {
  Array as ArraySchema,
  Enum,
  Object as ObjectSchema,
  Optional,
  type Static,
  String as StringSchema,
} from 'typebox';
import type { Keys, KeyView } from '../../../keys/index.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import { createdAt, iso, isoOrNull, nullable, strict, timestamp } from '../../api/schema-parts.ts';

interface Ports {
  readonly keys: Pick<Keys, 'list' | 'rotate'>;
}

const keySchema = ObjectSchema(
  {
    kid: StringSchema({ description: 'The key ID in tokens and in the JWKS.' }),
    alg: Enum(['RS256', 'ES256'], {
      description:
        'The algorithm that it signs with. Each RS256 key has an ES256 key beside it, which is of its state, and signs ID tokens and ' +
        'userinfo answers of applications that ask for ES256.',
    }),
    state: Enum(['next', 'current', 'retired'], {
      description: '`next`: published, and signs later; `current`: signs; `retired`: only verifies.',
    }),
    created_at: createdAt(),
    activates_at: nullable(timestamp(), { description: 'When a `next` key starts to sign.' }),
    activated_at: nullable(timestamp(), { description: 'When it started to sign.' }),
    retired_at: nullable(timestamp(), { description: 'When it stopped signing.' }),
    removed_at: nullable(timestamp(), {
      description: 'Until when a retired key is published: as long as a token that it signed can be valid.',
    }),
  },
  { ...strict, description: 'A signing key without its private part.' },
);
export type SigningKey = Static<typeof keySchema>;

const allSchema = ObjectSchema(
  { items: ArraySchema(keySchema, { description: 'All of them.' }) },
  { ...strict, description: 'The signing keys.' },
);
const all = { status: 200, schema: allSchema } as const;

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
    summary: 'List the signing keys: next, current, and retired ones that are still published',
    success: all,
    run: (_, ports) => list(ports),
  }),
  rotate: on.route({
    method: 'POST',
    path: '/keys/rotate',
    summary: 'Rotate the signing keys',
    recorded: { event: 'key.rotation_requested', target: 'key' },
    body: ObjectSchema(
      {
        mode: Optional(
          Enum(['gradual', 'immediate', 'compromised'], {
            description:
              '`gradual`, the default: the new key is published for a quarter of an hour before it signs. `immediate`: it signs ' +
              'within seconds. `compromised`: it signs immediately, and every token that the old key signed is revoked.',
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
