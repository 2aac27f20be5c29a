// Applications (src/model/applications/), for the test over all rows.
import { equal } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { legacyRows } from '../../src/model/applications/legacy.ts';
import type { ApplicationFact } from '../../src/model/applications/row.ts';
import { applicationRows } from '../../src/model/applications/rows.ts';
import { clients } from '../../src/store/collections.ts';
import { knownMembersOf } from '../../src/store/known-members.ts';
import { hiddenFields } from '../support/agent.ts';
import { REDIRECT_URI } from '../support/app.ts';
import type { Given, Resource } from './resource.ts';
import { describedIn, isIn, placeIn } from './ways-out.ts';
import { type Members, membersOf, sendAs, type World } from './world.ts';

const facts: Readonly<Record<string, ApplicationFact>> = { ...applicationRows };
const ORIGIN = new URL(REDIRECT_URI).origin;

/** A value that is not what absence means; flags have the other one. */
const SAMPLES: Members = {
  client_name: 'Renamed',
  application_type: 'native',
  redirect_uris: [REDIRECT_URI, `${ORIGIN}/second`],
  post_logout_redirect_uris: [`${ORIGIN}/out`],
  grant_types: ['authorization_code'],
  response_types: ['code', 'code id_token'],
  response_modes: ['query'],
  scope: 'openid email',
  token_endpoint_auth_method: 'client_secret_post',
  token_endpoint_auth_signing_alg: 'RS256',
  jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }] },
  jwks_uri: `${ORIGIN}/keys`,
  id_token_signed_response_alg: 'ES256',
  userinfo_signed_response_alg: 'ES256',
  subject_type: 'public',
  default_max_age: 60,
  default_acr_values: ['urn:latchkey:acr:multi-factor'],
  backchannel_logout_uri: `${ORIGIN}/ended`,
  initiate_login_uri: `${ORIGIN}/start`,
  client_uri: `${ORIGIN}/home`,
  logo_uri: `${ORIGIN}/logo.png`,
  policy_uri: `${ORIGIN}/policy`,
  tos_uri: `${ORIGIN}/terms`,
  contacts: ['admin@example.com'],
  software_id: 'acme',
  software_version: '2.1',
  request_uris: [`${ORIGIN}/request.jwt`],
  request_object_signing_alg: 'PS256',
  frontchannel_logout_uri: `${ORIGIN}/frame`,
  default_resource: 'https://api.example.com/',
  required_acr: 'urn:latchkey:acr:email-code',
  max_auth_age: 600,
  access_token_seconds: 120,
  id_token_seconds: 180,
  refresh_token_seconds: 7200,
  access_token_audience: 'client_id',
  rotate_refresh_tokens: 'never',
  authorization_signed_response_alg: 'ES256',
  allowed_groups: ['staff'],
  web_origins: ['https://scripts.example.com'],
  profile: 'legacy',
  approved_addresses: [],
};
const sampleOf = (name: string): unknown =>
  Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : facts[name]?.absent !== true;

const BESIDE: Readonly<Record<string, Members>> = {
  token_endpoint_auth_signing_alg: { token_endpoint_auth_method: 'private_key_jwt', jwks: SAMPLES.jwks },
  jwks: { token_endpoint_auth_method: 'private_key_jwt' },
  jwks_uri: { token_endpoint_auth_method: 'private_key_jwt' },
};
const isOfProfile = (name: string): boolean =>
  /^request_|^require_signed|^response_types$/.test(name) || facts[name]?.form === 'legacy';

/** Follow from others, or are settled by them. */
const OWN_WAY: ReadonlySet<string> = new Set(['response_types', 'approved_addresses']);

/** What anything has already. */
const UNCHANGED: ReadonlySet<string> = new Set(['subject_type', 'approved_addresses']);

/** With the kinds that it is only of, where there are others. */
const isSaid = (schema: unknown, description = ''): boolean =>
  String(membersOf(schema).description).startsWith(description);

/** Boxes and lines are in it by value; a duration is by its longest unit. */
function isShownIn(html: string, name: string, value: unknown): boolean {
  const { form, label = '', kind } = facts[name] ?? {};
  const [control = ''] =
    new RegExp(`<(?:input|select|textarea)[^>]* name="${name}[".][^>]*>`).exec(html) ?? [];
  const { fields = '' } = hiddenFields(html);
  if (form === null || !fields.split(' ').includes(name)) return form === null;
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isBox = kind?.control === 'check';
  const isValue = isBox
    ? control.includes(' checked') === (value !== false && value !== null)
    : kind?.control === 'number' || texts.some((text) => isIn(html, String(text)));
  return control !== '' && html.includes(label) && isValue;
}

export function applications(world: World): Resource {
  const { app } = world;
  const idOf = (path: string): string => path.replace('/clients/', '');
  const described = describedIn('/clients/{client_id}', 'patch');
  const given = [
    describedIn('/clients', 'post').given,
    describedIn('/clients/{client_id}', 'put').given,
    described.given,
  ];

  async function newRegistrant() {
    const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'rows', uses: 1 });
    const made = await sendAs(app, String(body.data.token), 'POST', '/oauth2/register', {
      client_name: 'Mine',
      redirect_uris: [REDIRECT_URI],
    });
    equal(made.status, 201, made.text);
    return made.body;
  }
  let registrant: ReturnType<typeof newRegistrant> | undefined;

  return {
    name: 'application',
    facts,
    hidden: [],
    unexported: [],
    event: 'client.updated',
    isLeftOut: (name) =>
      name === 'authorization_signed_response_alg' || isOfProfile(name) || Object.hasOwn(legacyRows, name),
    lasting: ['redirect_uris', 'response_types', 'subject_type'],
    async make(name) {
      const { id } = await app.register({
        ...(isOfProfile(name) && { profile: 'legacy' }),
        skip_consent: false,
      });
      return `/clients/${id}`;
    },
    valueOf: (name) => (name === 'profile' ? null : sampleOf(name)),
    beside: (name) => BESIDE[name] ?? {},
    besideNull: (name) => (BESIDE[name] ? { token_endpoint_auth_method: 'client_secret_basic' } : {}),
    shown: world.read,
    async isStored({ path, name, value }) {
      const { stored = '', absent } = facts[name] ?? {};
      // So that an older version beside does not drop it.
      if (!Object.hasOwn(Object(knownMembersOf('clients')), stored.split('.')[0] ?? '')) return false;
      if (OWN_WAY.has(name)) return true;
      const record = (await app.store.collection(clients).find(idOf(path)))?.value;
      return isDeepStrictEqual(placeIn(record, stored) ?? absent, value);
    },
    isDrawn: async ({ path, name, value }) =>
      isShownIn((await world.page(`/applications/${idOf(path)}`)).body, name, value),
    isDescribed(name) {
      const { setBy, description } = facts[name] ?? {};
      const isGiven = setBy !== 'server';
      const has = given.map((body) => Object.hasOwn(body, name));
      return (
        isDeepStrictEqual(has, [isGiven || name === 'client_type', isGiven, isGiven]) &&
        isSaid(described.shown[name], description) &&
        (!isGiven || isSaid(described.given[name], description))
      );
    },
    isTold: ({ fields, after }, { name, value }) =>
      Array.isArray(fields) &&
      fields.includes(name) &&
      (UNCHANGED.has(name) || isDeepStrictEqual(membersOf(after)[name] ?? null, value)),
    /** What GET answers makes another one like it. */
    async carry(names) {
      const lacks: string[] = [];
      for (const name of names) {
        const { id } = await app.register({
          ...(isOfProfile(name) && { profile: 'legacy' }),
          ...BESIDE[name],
          [name]: sampleOf(name),
        });
        const shown = await world.read(`/clients/${id}`);
        const answer = await world.send(
          'key',
          'POST',
          '/clients',
          Object.fromEntries(Object.entries(shown).filter(([one]) => facts[one]?.setBy !== 'server')),
        );
        const { client_id: other } = membersOf(answer.body.data);
        const again = answer.status === 201 ? await world.read(`/clients/${other}`) : {};
        if (!isDeepStrictEqual(again[name], sampleOf(name)))
          lacks.push(`${name}: goes to another (${answer.text})`);
      }
      return lacks;
    },
    async byRegistrant({ name, value }: Given) {
      registrant ??= newRegistrant();
      const { client_id: id, registration_access_token: token } = await registrant;
      const path = `/oauth2/register/${id}`;
      const web = { client_id: id, client_name: 'Mine', redirect_uris: [REDIRECT_URI] };
      const answer = await sendAs(app, String(token), 'PUT', path, {
        ...web,
        ...BESIDE[name],
        [name]: value,
      });
      const own = (await sendAs(app, String(token), 'GET', path)).body;
      return { answer, own, path: `/clients/${id}` };
    },
  };
}
