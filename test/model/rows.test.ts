// The kit of rows (src/model/row.ts): what does not compile, and what its one reader and writer (src/api/walk.ts) do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walk } from '../../src/api/walk.ts';
import type { Kind } from '../../src/model/kind.ts';
import { choice, flag, seconds } from '../../src/model/kinds.ts';
import { list } from '../../src/model/list-kinds.ts';
import { type Change, row, rowWith, type Stored, type View } from '../../src/model/row.ts';
import { text } from '../../src/model/text-kinds.ts';
import { time } from '../../src/model/time-kinds.ts';

interface Keys {
  readonly keys: readonly object[];
}
const jwks: Kind<Keys> = {
  schema: { type: 'object' },
  control: 'json',
  problems: ['Must have an array of keys.'],
  parse: (given) =>
    typeof given === 'object' && given !== null && 'keys' in given && Array.isArray(given.keys)
      ? { value: { keys: given.keys } }
      : { problem: 'Must have an array of keys.' },
};

// A preset may be spread; each of its members stays visible, and a row may say otherwise.
const byAdministrators = {
  description: 'What it does.',
  hint: null,
  setBy: 'administrator',
  shownTo: 'everyone',
  sensitivity: 'sensitive',
  reported: 'value',
} as const;

const rows = {
  client_name: row(text(1, 20), {
    stored: 'metadata.client_name',
    absent: undefined,
    label: 'Name',
    ...byAdministrators,
    setBy: 'registrant',
  }),
  grant_types: row(list({ maxItems: 3, maxLength: 20, problem: 'Must be a list of at most 3 texts.' }), {
    stored: 'metadata.grant_types',
    absent: undefined,
    label: 'Grant types',
    ...byAdministrators,
    setBy: 'registrant',
  }),
  is_active: row(flag, {
    stored: 'isActive',
    absent: true,
    isAlwaysStored: true,
    label: 'Active',
    ...byAdministrators,
    shownTo: 'administrator',
  }),
  keycloak_tokens: row(flag, {
    stored: 'keycloakTokens',
    absent: false,
    label: 'Tokens as Keycloak has them',
    ...byAdministrators,
  }),
  access_token_seconds: row(seconds(30, 86_400), {
    stored: 'accessTokenSeconds',
    absent: null,
    label: 'Access tokens',
    ...byAdministrators,
  }),
  access_token_audience: row(choice({ issuer: 'The issuer', client_id: 'Its own id' }), {
    stored: 'accessTokenAudience',
    absent: 'client_id',
    label: 'Audience',
    ...byAdministrators,
  }),
  web_origins: row(
    list({
      maxItems: 2,
      maxLength: 100,
      problem: 'Must be a list of at most 2 origins.',
      isSet: true,
      why: (one) => (one.startsWith('https://') ? undefined : 'must be an origin'),
    }),
    { stored: 'webOrigins', absent: [], label: 'Web origins', ...byAdministrators },
  ),
  jwks: row(jwks, {
    stored: 'jwks',
    absent: null,
    label: 'Public keys',
    ...byAdministrators,
    setBy: 'registrant',
    reported: 'name',
  }),
  proxy_secret: row(text(32, 200), {
    stored: 'proxySecret',
    absent: null,
    label: 'Secret',
    ...byAdministrators,
    shownTo: 'nobody',
    reported: 'name',
  }),
  require_pkce: row(flag, {
    stored: 'requirePkce',
    absent: false,
    label: 'Require PKCE',
    ...byAdministrators,
    isSpecial: true,
  }),
  pkce_required_at: row(time, {
    stored: 'pkceRequiredAt',
    absent: null,
    label: 'Since',
    ...byAdministrators,
    setBy: 'server',
  }),
};

type Record_ = Stored<typeof rows>;

const pkce = {
  show: ({ requirePkce, webOrigins = [] }: Record_) => requirePkce === true || webOrigins.length > 0,
  // Set by somebody now, so the date at which it began by itself goes.
  settle: ({ requirePkce }: Record_, to: boolean | null): Change<Record_> => {
    if (to !== true) return { requirePkce: undefined };
    return requirePkce === true ? {} : { requirePkce: true, pkceRequiredAt: undefined };
  },
};

const application = walk(rows, { require_pkce: pkce });

/** What must not compile. Nothing of it runs. */
export function planted(view: View<typeof rows>, seen: View<typeof rows, 'everyone'>): void {
  view.access_token_seconds satisfies number | null;
  view.access_token_audience satisfies 'issuer' | 'client_id';
  view.jwks satisfies Keys | null;
  view.client_name satisfies string | undefined;
  view.pkce_required_at satisfies string | null;
  view.is_active satisfies boolean;
  // @ts-expect-error: never shown
  view.proxy_secret satisfies unknown;
  // @ts-expect-error: shown to administrators alone
  seen.is_active satisfies unknown;
  // @ts-expect-error: never null
  view.keycloak_tokens satisfies null;
  // @ts-expect-error: may be missing
  view.client_name satisfies string;
  const about = { stored: 'x', absent: false, label: 'x', ...byAdministrators } as const;
  const { setBy: _, ...setByNobody } = about;
  row(flag, about);
  // @ts-expect-error: who may set it is not said
  row(flag, setByNobody);
  // @ts-expect-error: its default is not of its kind
  row(flag, { ...about, absent: 'no' });
  // @ts-expect-error: a misspelt member
  row(flag, { ...about, isSpecail: true });
  const csvRow = rowWith<{ readonly column: string }>();
  csvRow(flag, { ...about, column: 'X' });
  // @ts-expect-error: what the rows of its resource say beside it
  csvRow(flag, about);
  // @ts-expect-error: special, without its functions
  walk(rows, {});
  // @ts-expect-error: functions for what is not special
  walk(rows, { require_pkce: pkce, jwks: { show: () => null, settle: () => ({}) } });
  // @ts-expect-error: functions of another type
  walk(rows, { require_pkce: { show: () => 'no', settle: () => ({}) } });
  // @ts-expect-error: a stored member of another type
  const wrong: Record_ = { accessTokenSeconds: 'x' };
  // @ts-expect-error: a stored member of another type, inside of a member
  const wrongInside: Record_ = { metadata: { client_name: 1 } };
  // @ts-expect-error: a record that has another type of the member
  walk<typeof rows, { accessTokenSeconds: string }>(rows, { require_pkce: pkce });
  [wrong, wrongInside].map(String);
}

const stored: Record_ = {
  isActive: true,
  requirePkce: true,
  pkceRequiredAt: 3,
  accessTokenSeconds: 60,
  proxySecret: 'x'.repeat(32),
};
const administrator = { by: 'administrator' } as const;

test('walk: a change keeps what is valid and names the rest', () => {
  const { next, problems } = application.change(
    stored,
    {
      require_pkce: false,
      access_token_seconds: 5,
      web_origins: [],
      keycloak_tokens: null,
      nope: 1,
      pkce_required_at: 4,
      jwks: { keys: [] },
    },
    administrator,
  );
  assert.deepEqual(next, {
    isActive: true,
    pkceRequiredAt: 3,
    accessTokenSeconds: 60,
    proxySecret: 'x'.repeat(32),
    jwks: { keys: [] },
  });
  assert.deepEqual(Object.fromEntries(problems), {
    nope: 'Unknown field.',
    keycloak_tokens: 'Must be true or false.',
    access_token_seconds: 'Must be a whole number of seconds from 30 to 86400.',
    pkce_required_at: 'This field cannot be changed.',
  });
  assert.deepEqual(stored.requirePkce, true, 'the record before is not changed');
});

test('walk: what is absent is not stored, and what is always stored is', () => {
  const given = {
    keycloak_tokens: false,
    access_token_audience: 'client_id',
    web_origins: [],
    is_active: true,
  };
  assert.deepEqual(application.change({}, given, administrator).next, { isActive: true });
  const set = application.change({ keycloakTokens: true }, { keycloak_tokens: false }, administrator);
  assert.deepEqual(set.next, {});
});

test('walk: null goes back where absence is shown as null or not at all', () => {
  const before: Record_ = { accessTokenSeconds: 60, metadata: { client_name: 'A', grant_types: [] } };
  const { next, problems } = application.change(
    before,
    { access_token_seconds: null, client_name: null },
    administrator,
  );
  assert.deepEqual([next, problems.size], [{ metadata: { grant_types: [] } }, 0]);
});

test('walk: a replacement resets what its setter could give, shown ones alone', () => {
  const { next } = application.change(
    { ...stored, keycloakTokens: true, metadata: { client_name: 'A' } },
    { client_name: 'B' },
    { ...administrator, mode: 'replace' },
  );
  assert.deepEqual(next, {
    isActive: true,
    pkceRequiredAt: 3,
    proxySecret: 'x'.repeat(32),
    metadata: { client_name: 'B' },
  });
});

test('walk: registrants set their own, and unknown names are dropped', () => {
  const { next, problems } = application.change(
    {},
    { client_name: 'A', web_origins: ['https://a'], nope: 1 },
    { by: 'registrant' },
  );
  assert.deepEqual(next, { metadata: { client_name: 'A' } });
  assert.deepEqual(Object.fromEntries(problems), { web_origins: 'This field cannot be changed.' });
});

test('walk: shows absent values, times as JSON has them, and nothing that is hidden', () => {
  assert.deepEqual(application.show(stored), {
    is_active: true,
    keycloak_tokens: false,
    access_token_seconds: 60,
    access_token_audience: 'client_id',
    web_origins: [],
    jwks: null,
    require_pkce: true,
    pkce_required_at: '1970-01-01T00:00:00.003Z',
  });
  assert.equal('is_active' in application.show(stored, 'everyone'), false);
  assert.equal(application.show({ webOrigins: ['https://a'] }).require_pkce, true);
});

test('walk: names of prototypes are members of no record', () => {
  const given: Readonly<Record<string, unknown>> = JSON.parse('{"__proto__": 1, "constructor": 2}');
  const { next, problems } = application.change({}, given, administrator);
  assert.deepEqual(next, {});
  assert.deepEqual([...problems.keys()], ['__proto__', 'constructor']);
});
