// Users (src/model/users/), for the test over all rows.
import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../src/model/row.ts';
import { addressRows } from '../../src/model/users/address-rows.ts';
import type { UserFacts } from '../../src/model/users/facts.ts';
import { userRows } from '../../src/model/users/rows.ts';
import { accounts } from '../../src/store/collections.ts';
import { bearer, call, tokensOf, userinfo } from '../flows/support.ts';
import { hiddenFields } from '../support/agent.ts';
import type { Resource } from './resource.ts';
import { describedIn, isIn, placeIn } from './ways-out.ts';
import { type Members, membersOf, sendAs, type World } from './world.ts';

type UserFact = Row<unknown> & UserFacts;
const facts: Readonly<Record<string, UserFact>> = userRows;

const lines = Object.fromEntries(Object.entries(addressRows).map(([name, { example }]) => [name, example]));
/** What a new user has not, where the row's example does not say it. */
const SAMPLES: Members = {
  role: 'auditor',
  is_active: false,
  is_email_verified: true,
  phone_number_verified: true,
  totp_verified: true,
  address: lines,
};
const sampleOf = (name: string): unknown =>
  SAMPLES[name] ?? facts[name]?.example ?? (facts[name]?.kind.control === 'check' ? true : 'x');

/** Pages that ask for one thing alone. */
const ACTS: Readonly<Record<string, string>> = {
  password: 'password',
  role: 'role',
  totp_verified: 'reset-mfa',
  is_active: 'deactivate',
};

/** Owners add further addresses; administrators only take them away. */
const isGiven = (name: string): boolean => name !== 'other_emails';

const fieldsOf = (name: string): string[] =>
  name === 'address' ? Object.keys(addressRows).map((line) => `address.${line}`) : [name];

export function users(world: World): Resource {
  const { app, client } = world;
  const described = describedIn('/users/{id}', 'patch');
  const idOf = (path: string): string => path.replace('/users/', '');
  const names = new Map<string, string>();

  return {
    name: 'user',
    facts,
    takenAway: ['other_emails'],
    hidden: ['password'],
    unexported: ['password', 'stopped_email_change'],
    event: 'user.updated',
    async make() {
      const { id, username } = await world.newUser({ totp_verified: false });
      names.set(id, username);
      return `/users/${id}`;
    },
    valueOf(name, path) {
      const username = names.get(idOf(path));
      if (name === 'username') return `${username}-2`;
      if (name === 'other_emails') return [];
      return name === 'email' ? `${username}@mail.example` : sampleOf(name);
    },
    shown: world.read,
    async isStored({ path, name, value }) {
      const record = (await app.store.collection(accounts).find(idOf(path)))?.value;
      const kept = placeIn(record, facts[name]?.stored ?? '');
      return name === 'password'
        ? typeof kept === 'string' && kept !== value
        : isDeepStrictEqual(kept, value);
    },
    async isDrawn({ path, name, value }) {
      const { asked } = facts[name] ?? {};
      if (asked === 'nowhere') return true;
      if (asked === 'act') {
        const own = (await world.page(path)).body;
        // What was deactivated can be activated again.
        return own.includes(`${path}/${name === 'is_active' ? 'reactivate' : ACTS[name]}`);
      }
      const { body } = await world.page(`${path}/edit`);
      const texts = name === 'address' ? Object.values(lines) : [value];
      return (
        fieldsOf(name).every((field) => body.includes(` name="${field}"`)) &&
        texts.every((text) =>
          text === true ? new RegExp(` name="${name}"[^>]* checked`).test(body) : isIn(body, String(text)),
        )
      );
    },
    isDescribed(name) {
      const { setBy, shownTo, description } = facts[name] ?? {};
      return (
        (setBy === 'server') !== Object.hasOwn(described.given, name) &&
        (shownTo === 'nobody') !== Object.hasOwn(described.shown, name) &&
        (setBy === 'server' || membersOf(described.given[name]).description === description)
      );
    },
    isTold: ({ fields, after }, { name, value }) =>
      isDeepStrictEqual(fields, [name]) &&
      (facts[name]?.reported !== 'value' || isDeepStrictEqual(membersOf(after)[name], value)),
    carry: (settable) => carry(world, settable),
    async byOwner({ path: _path, name, value: said }) {
      const user = await world.newUser();
      const { access_token: token } = await tokensOf(app, client, user, {
        scope: 'openid account',
        prompt: 'login',
      });
      const value = name === 'username' ? `${user.username}-2` : said;
      const answer = await sendAs(app, String(token), 'PATCH', '/account/api/profile', { [name]: value });
      const own = await call(app, 'GET', '/account/api/profile', { headers: bearer(String(token)) });
      const shown = membersOf(own.body.data);
      return {
        answer,
        own: name === 'username' && shown[name] === value ? { ...shown, [name]: said } : shown,
        path: `/users/${user.id}`,
      };
    },
  };
}

async function importLine(world: World, row: object) {
  return call(world.app, 'POST', '/admin/api/users/import', {
    headers: { ...bearer(await world.bearerOf('operator')), 'content-type': 'application/x-ndjson' },
    body: JSON.stringify(row),
  });
}

/** The exported files have each, the imports of lines and of tables take it back, and userinfo tells its claim. */
async function carry(world: World, settable: readonly string[]): Promise<string[]> {
  const { app } = world;
  const lacks: string[] = [];
  const given = settable.filter((name) => isGiven(name) && !['username', 'email', 'password'].includes(name));
  const user = await world.newUser();
  const changes = Object.fromEntries(given.map((name) => [name, sampleOf(name)]));
  const changed = await world.send('key', 'PATCH', `/users/${user.id}`, {
    ...changes,
    is_active: true,
    role: 'user',
  });
  if (changed.status !== 200) return [`all: PATCH takes them (${changed.text})`];
  await app.admin('POST', '/groups/staff/members', { user_id: user.id });
  const shown = await world.read(`/users/${user.id}`);

  const fileOf = async (format: string): Promise<string> =>
    (await world.page(`/users/export?format=${format}&username=${user.username}`)).body;
  const [header = '', line = ''] = (await fileOf('csv')).split('\r\n');
  const columns = header.split(',');
  const item = membersOf(JSON.parse((await fileOf('jsonl')).split('\n')[0] ?? ''));
  for (const [name, { isExported, shownTo, example }] of Object.entries(facts)) {
    if (isExported && !columns.includes(name)) lacks.push(`${name}: is a column`);
    if (
      isExported &&
      given.includes(name) &&
      typeof example === 'string' &&
      !line.includes(String(sampleOf(name)))
    )
      lacks.push(`${name}: is in the table`);
    if (shownTo !== 'nobody' && !isDeepStrictEqual(item[name], shown[name]))
      lacks.push(`${name}: is in the lines`);
  }
  const carried = [...given, 'groups', 'created_at'];
  const row = {
    ...Object.fromEntries(carried.map((name) => [name, item[name]])),
    username: 'imported',
    email: 'i@example.com',
  };
  const answer = await importLine(world, row);
  const found = await findOf(world, 'imported');
  for (const name of carried)
    if (!isDeepStrictEqual(found[name], item[name])) lacks.push(`${name}: a line brings it (${answer.text})`);
  const unknown = await importLine(world, { ...row, username: 'other', email: 'o@example.com', colour: 'x' });
  if (!unknown.text.includes('"colour":"Unknown field."')) lacks.push(`colour: a line is refused with it`);

  const cells = settable.filter((name) => facts[name]?.column != null && name !== 'password');
  lacks.push(...(await tableLacks(world, cells)));
  return [...lacks, ...(await claimLacks(world, user, shown))];
}

async function findOf({ app }: World, username: string): Promise<Members> {
  const { body } = await app.admin('GET', `/users?username=${username}`);
  return membersOf(body.data.items?.[0]);
}

async function tableLacks(world: World, names: readonly string[]): Promise<string[]> {
  const cellOf = (name: string): string => {
    if (name === 'username') return 'tabled';
    if (name === 'email') return 'tabled@example.com';
    const value = sampleOf(name);
    return value === true ? 'yes' : value === false ? 'no' : String(value);
  };
  const path = '/users/import/csv';
  const heading = [...names, 'groups', 'created_at'];
  const cells = [...names.map(cellOf), 'staff', '2020-01-02T03:04:05Z'];
  const rows = `${heading.join(',')}\n${cells.map((cell) => `"${cell}"`).join(',')}`;
  const { body } = await world.page(path);
  const agent = await world.agent();
  const begun = await agent.post(`/admin${path}`, { ...hiddenFields(body), rows, step: 'import' });
  if (begun.status !== 303) return [`all: a table is taken (${begun.body})`];
  world.app.advance(3_000);
  await world.app.app.jobs.tick();
  const found = await findOf(world, 'tabled');
  const wanted: Members = {
    groups: ['staff'],
    created_at: '2020-01-02T03:04:05.000Z',
    username: 'tabled',
    email: 'tabled@example.com',
  };
  return heading.flatMap((name) =>
    isDeepStrictEqual(found[name], wanted[name] ?? sampleOf(name)) ? [] : [`${name}: a table brings it`],
  );
}

/** Each claim under its scope alone, and in the discovery document. */
async function claimLacks(
  world: World,
  user: { readonly username: string },
  shown: Members,
): Promise<string[]> {
  const { app, client } = world;
  const lacks: string[] = [];
  const { body: metadata } = await call(app, 'GET', '/.well-known/openid-configuration');
  const supported: readonly unknown[] = Array.isArray(metadata.claims_supported)
    ? metadata.claims_supported
    : [];
  for (const scope of new Set(Object.values(facts).flatMap(({ claim }) => claim?.scope ?? []))) {
    const asked = scope === 'openid' ? scope : `openid ${scope}`;
    const { access_token: token } = await tokensOf(app, client, user, { scope: asked });
    const told = membersOf((await userinfo(app, String(token))).body);
    const under = Object.entries(facts).flatMap(([name, { claim }]) =>
      claim !== null && (claim.scope === scope || claim.scope === 'openid')
        ? [{ name, claim: claim.name }]
        : [],
    );
    for (const { name, claim } of under) {
      const value =
        claim === 'roles'
          ? [shown[name]]
          : claim === 'updated_at'
            ? Math.floor(Date.parse(String(shown[name])) / 1000)
            : shown[name];
      if (!isDeepStrictEqual(told[claim], value)) lacks.push(`${name}: is the claim ${claim}`);
      if (!supported.includes(claim)) lacks.push(`${name}: discovery lists ${claim}`);
    }
    const extra = Object.keys(told).filter((claim) => !under.some((one) => one.claim === claim));
    if (extra.length > 0) lacks.push(`${scope}: tells ${extra.join(', ')}, too`);
  }
  return lacks;
}
