// Groups and APIs, for the test over all rows.
import { equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { apiRows } from '../../src/model/apis/rows.ts';
import { groupRows } from '../../src/model/groups/rows.ts';
import { groups as groupRecords } from '../../src/store/administration.ts';
import { apis as apiRecords } from '../../src/store/apis.ts';
import { bearer, call } from '../flows/support.ts';
import type { Given, Resource } from './resource.ts';
import { describedIn, isIn, placeIn } from './ways-out.ts';
import { type Members, membersOf, type World } from './world.ts';

type Facts = Resource['facts'];

/** What is given, and what is shown of it, has its row's description. */
function descriptions(facts: Facts, path: string) {
  const { given, shown } = describedIn(path, 'patch');
  return (name: string): boolean => {
    const { setBy, description } = facts[name] ?? {};
    const isGiven = setBy !== 'server';
    return (
      isGiven === Object.hasOwn(given, name) &&
      membersOf(shown[name]).description === description &&
      (!isGiven || membersOf(given[name]).description === description)
    );
  };
}

/** Their bodies hold nothing secret, so events have them as they were given. */
const isTold = ({ given }: Members, { name, value }: Given): boolean =>
  isDeepStrictEqual(given, { [name]: value });

export function groups(world: World): Resource {
  const { app } = world;
  const facts: Facts = groupRows;
  const idOf = (path: string): string => path.replace('/groups/', '');
  return {
    name: 'group',
    facts,
    hidden: [],
    unexported: [],
    event: 'group.updated',
    async make() {
      const name = `group-${randomUUID()}`;
      const answer = await app.admin('POST', '/groups', { name });
      equal(answer.status, 201);
      return `/groups/${name}`;
    },
    valueOf: (name) => (facts[name]?.kind.control === 'check' ? true : `The ${name}`),
    shown: world.read,
    async isStored({ path, name, value }) {
      const record = await app.store.collection(groupRecords).find(idOf(path));
      return isDeepStrictEqual(placeIn(record?.value, facts[name]?.stored ?? ''), value);
    },
    async isDrawn({ path, name, value }) {
      const { body } = await world.page(`${path}/edit`);
      const fresh = (await world.page('/groups/new')).body;
      return [body, fresh].every((html) => html.includes(` name="${name}"`)) && isIn(body, String(value));
    },
    isDescribed: descriptions(facts, '/groups/{id}'),
    isTold,
    async carry(names) {
      const all = Object.fromEntries(names.map((name) => [name, `The ${name}`]));
      const { status } = await app.admin('POST', '/groups', { name: 'carried', ...all });
      const shown: Members = status === 201 ? await world.read('/groups/carried') : {};
      return names.flatMap((name) => (shown[name] === all[name] ? [] : [`${name}: a new one has it`]));
    },
  };
}

export function apis(world: World): Resource {
  const { app, client } = world;
  const facts: Facts = apiRows;
  const scopes = [
    { name: 'orders:read', description: 'See orders', is_default: true, roles: ['admin'], groups: ['staff'] },
  ];
  const values: Members = {
    name: 'Sales',
    scopes: [
      ...scopes,
      { name: 'orders:write', description: 'Change orders', is_default: false, roles: [], groups: [] },
    ],
    clients: [client.id],
    is_open_to_agents: true,
    machine_grants: { [client.id]: ['orders:read'] },
    claims: ['groups', 'roles'],
    access_token_format: 'opaque',
    access_token_seconds: 60,
    required_acr: 'urn:latchkey:acr:multi-factor',
    max_auth_age: 600,
    require_dpop: true,
  };
  /** How the page of an API asks for what is no field of one line. */
  const asked: Readonly<Record<string, string>> = {
    claims: 'name="claim.groups" checked',
    clients: client.id,
    scopes: 'orders:write',
    machine_grants: 'orders:read',
  };
  const chosenFor = (name: string): unknown => (Object.hasOwn(values, name) ? values[name] : true);
  return {
    name: 'API',
    facts,
    hidden: [],
    unexported: [],
    event: 'api.updated',
    async make() {
      const identifier = `https://api.example/${randomUUID()}`;
      const { status, body } = await app.admin('POST', '/resources', { identifier, name: 'Orders', scopes });
      equal(status, 201, JSON.stringify(body));
      return `/resources/${body.data.id}`;
    },
    valueOf: chosenFor,
    shown: world.read,
    async isStored({ path, name, value }) {
      const record = await app.store.collection(apiRecords).find(path.replace('/resources/', ''));
      const kept = placeIn(record?.value, facts[name]?.stored ?? '');
      // Stored with the ids of scopes.
      return name === 'scopes' || name === 'machine_grants'
        ? Array.isArray(kept) && kept.length === Object.keys(Object(value)).length
        : isDeepStrictEqual(kept, value);
    },
    async isDrawn({ path, name }) {
      const { body } = await world.page(path.replace('/resources/', '/apis/'));
      return body.includes(asked[name] ?? `name="${name}`);
    },
    isDescribed: descriptions(facts, '/resources/{id}'),
    isTold,
    /** As the list shows it, imported under its identifier, after all of it was reset. */
    async carry(names) {
      const { body } = await app.admin('POST', '/resources', {
        identifier: 'https://api.example/carried',
        name: 'Orders',
        scopes,
      });
      const path = `/resources/${body.data.id}`;
      const all = Object.fromEntries(names.map((name) => [name, chosenFor(name)]));
      const changed = await world.send('key', 'PATCH', path, all);
      if (changed.status !== 200) return [`all: PATCH takes them (${changed.text})`];
      const { items = [] } = (await app.admin('GET', '/resources')).body.data;
      const listed = membersOf(items.find(({ id }) => id === body.data.id));
      const reset = await world.send('key', 'PUT', path, { name: 'Orders', scopes });
      const before = membersOf(reset.body.data);
      const answer = await call(app, 'POST', '/admin/api/resources/import', {
        headers: { ...bearer(await world.bearerOf('key')), 'content-type': 'application/x-ndjson' },
        body: JSON.stringify(listed),
      });
      const after = await world.read(path);
      return names.flatMap((name) => [
        ...(isDeepStrictEqual(before[name], values[name]) ? [`${name}: PUT resets it`] : []),
        ...(isDeepStrictEqual(after[name], chosenFor(name))
          ? []
          : [`${name}: the import brings it (${answer.text})`]),
      ]);
    },
  };
}
