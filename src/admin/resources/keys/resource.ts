// The signing keys. Private keys are never returned.
import type { Static } from 'typebox';
import type { KeyView } from '../../../keys/index.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import type { AdminPorts } from '../../api/ports.ts';
import {
  array,
  createdAt,
  iso,
  isoOrNull,
  object,
  oneOf,
  optional,
  string,
  timestampOrNull,
} from '../../api/schema-parts.ts';

const keySchema = object(
  {
    kid: string('The key ID in tokens and in the JWKS.'),
    alg: oneOf(
      ['RS256', 'ES256'],
      'The algorithm that it signs with. Each RS256 key has an ES256 key beside it, which is of its state, and signs ID tokens and ' +
        'userinfo answers of applications that ask for ES256.',
    ),
    state: oneOf(
      ['next', 'current', 'retired'],
      '`next`: published, and signs later; `current`: signs; `retired`: only verifies.',
    ),
    created_at: createdAt(),
    activates_at: timestampOrNull('When a `next` key starts to sign.'),
    activated_at: timestampOrNull('When it started to sign.'),
    retired_at: timestampOrNull('When it stopped signing.'),
    removed_at: timestampOrNull(
      'Until when a retired key is published: as long as a token that it signed can be valid.',
    ),
  },
  'A signing key without its private part.',
);
export type SigningKey = Static<typeof keySchema>;

const allSchema = object({ items: array(keySchema, 'All of them.') }, 'The signing keys.');
const all = { answer: allSchema } as const;

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

const list = async ({ keys }: AdminPorts) => ({ data: { items: (await keys.list()).map(show) } });

export const signingKeys = defineRoutes('Keys', (on) => ({
  list: on.route('GET /keys', {
    summary: 'List the signing keys: next, current, and retired ones that are still published',
    ...all,
    run: (_, ports) => list(ports),
  }),
  rotate: on.route('POST /keys/rotate', {
    summary: 'Rotate the signing keys',
    recorded: { event: 'key.rotation_requested', target: 'key' },
    body: object({
      mode: optional(
        oneOf(
          ['gradual', 'immediate', 'compromised'],
          '`gradual`, the default: the new key is published for a quarter of an hour before it signs. `immediate`: it signs ' +
            'within seconds. `compromised`: it signs immediately, and every token that the old key signed is revoked.',
        ),
      ),
    }),
    isBodyOptional: true,
    ...all,
    async run({ body }, ports) {
      await ports.keys.rotate(body.mode ?? 'gradual');
      return list(ports);
    },
  }),
}));
