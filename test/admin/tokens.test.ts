// Issued tokens and grants over HTTP (decision 0010): listed without their values, and revoked with immediate effect.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { claimsOf, introspect, isActive, requestTokensOf, tokensOf } from '../flows/support.ts';
import { Agent, refresh } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { dataOf, errorOf, itemsOf, send, wrongFields } from './answers.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const api = (method: string, path: string) =>
  send(`${app.url}/admin/api${path}`, method, undefined, { bearer: ADMIN_TOKEN });
const kinds = (items: Record<string, unknown>[]): unknown[] => items.map(({ kind }) => kind).toSorted();

const acme = await app.register({ rotate_refresh_tokens: 'always' });
const other = await app.register({ skip_consent: false, client_name: 'Other' });
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'openid',
});
const alice = await app.createUser('alice');
const bob = await app.createUser('bob');

test('token list: shows the purpose of a user’s tokens, never their values', async () => {
  const tokens = await tokensOf(app, acme, alice, { scope: 'openid email' });
  const listed = await api('GET', `/tokens?user_id=${alice.id}`);
  deepEqual(kinds(itemsOf(listed)), ['access_token', 'refresh_token']);
  for (const secret of [tokens.access_token, tokens.refresh_token]) ok(!listed.text.includes(secret));
  const access = itemsOf(listed).find(({ kind }) => kind === 'access_token');
  deepEqual(
    [access?.id, access?.user_id, access?.client_id, access?.scopes],
    [claimsOf(tokens.access_token).jti, alice.id, acme.id, ['openid', 'email']],
  );
  deepEqual(dataOf(await api('GET', `/tokens/${access?.id}`)), access);
  // What a rotation used up is no token any more.
  await refresh(app, acme, tokens.refresh_token);
  deepEqual(kinds(itemsOf(await api('GET', `/tokens?user_id=${alice.id}&kind=refresh_token`))), [
    'refresh_token',
  ]);
});

test('revocation: an access token alone, a refresh token with its grant', async () => {
  const tokens = await tokensOf(app, acme, bob);
  const jti = claimsOf(tokens.access_token).jti;
  equal((await api('DELETE', `/tokens/${jti}`)).status, 204);
  equal(await isActive(app, tokens.access_token), false);
  equal(await isActive(app, tokens.refresh_token), true);
  const again = await api('DELETE', `/tokens/${jti}`);
  deepEqual([again.status, errorOf(again).reason], [404, 'token.not_found']);

  const renewed = await refresh(app, acme, tokens.refresh_token);
  const [token] = itemsOf(await api('GET', `/tokens?user_id=${bob.id}&kind=refresh_token`));
  equal((await api('DELETE', `/tokens/${token?.id}`)).status, 204);
  for (const bearer of [renewed.body.access_token, renewed.body.refresh_token])
    equal((await introspect(app, bearer)).body.active, false);
  const events = itemsOf(await api('GET', `/audit?event=token.revoked&target_id=${jti}`));
  equal(events.length, 1);
});

test('refresh token list: page, filter and cursor; access tokens only per user', async () => {
  const people = await Promise.all(['pia', 'pim', 'pip'].map((name) => app.createUser(name)));
  for (const person of people) await tokensOf(app, acme, person);
  const first = await api('GET', '/tokens?limit=2&sort=id&order=asc');
  const rest = await api('GET', `/tokens?limit=1000&sort=id&order=asc&cursor=${dataOf(first).next}`);
  const all = itemsOf(await api('GET', '/tokens?limit=1000&sort=id&order=asc'));
  deepEqual([...itemsOf(first), ...itemsOf(rest)], all);
  ok(all.length >= 4 && all.every(({ kind }) => kind === 'refresh_token'));
  deepEqual(itemsOf(await api('GET', `/tokens?client_id=${other.id}`)), []);
  const [mine] = itemsOf(await api('GET', `/tokens?user_id=${people[0]?.id}&kind=refresh_token`));
  equal(itemsOf(await api('GET', `/tokens?grant_id=${mine?.grant_id}`)).length, 2);
  const page = await api('GET', `/tokens?grant_id=${mine?.grant_id}&limit=1&order=asc`);
  const next = await api(
    'GET',
    `/tokens?grant_id=${mine?.grant_id}&limit=1&order=asc&cursor=${dataOf(page).next}`,
  );
  deepEqual([itemsOf(page).length, itemsOf(next).length, dataOf(next).next], [1, 1, null]);
  ok(itemsOf(page)[0]?.id !== itemsOf(next)[0]?.id);
  equal(itemsOf(await api('GET', `/tokens?user_id=${people[0]?.id}&client_id=${other.id}`)).length, 0);

  const own = await requestTokensOf(app, machine, { grant_type: 'client_credentials' });
  const [found] = itemsOf(await api('GET', `/tokens?kind=client_credentials&client_id=${machine.id}`));
  deepEqual([found?.user_id, found?.id], [null, claimsOf(own.access_token).jti]);
  equal((await api('DELETE', `/tokens/${found?.id}`)).status, 204);
  equal(await isActive(app, own.access_token), false);
});

test('token routes: invalid requests are named; invented ids have no token', async () => {
  const cases: readonly (readonly [string, string])[] = [
    ['kind=access_token', 'user_id'],
    [`kind=access_token&client_id=${acme.id}`, 'user_id'],
    ['kind=client_credentials', 'client_id'],
    ['kind=id_token', 'kind'],
    ['user_id=', 'user_id'],
    [`user_id=${'x'.repeat(129)}`, 'user_id'],
    ['user_id[$ne]=1', 'user_id[$ne]'],
    ['sort=value', 'sort'],
    ['search=x', 'search'],
  ];
  for (const [query, field] of cases) {
    const answer = await api('GET', `/tokens?${query}`);
    deepEqual([answer.status, wrongFields(answer)], [400, [field]], query);
  }
  for (const id of ['nobody', "x'%20OR%201=1", '%7B%22$ne%22:1%7D', '__proto__']) {
    equal((await api('GET', `/tokens/${id}`)).status, 404, id);
    equal((await api('DELETE', `/tokens/${id}`)).status, 404, id);
  }
  equal((await api('POST', '/tokens')).status, 405);
  deepEqual(itemsOf(await api('GET', "/tokens?user_id=x'%20OR%20'1'='1")), []);
});

test('grants: withdrawing one revokes its tokens and asks for consent again', async () => {
  const eve = await app.createUser('eve');
  const agent = new Agent(app);
  const { response } = await agent.signIn(other.id, eve, { scope: 'openid email' });
  ok(response.get('code'));
  const tokens = await tokensOf(app, acme, eve);
  const listed = await api('GET', `/users/${eve.id}/grants`);
  const grants = itemsOf(listed);
  deepEqual(grants.map(({ client_id: id }) => id).toSorted(), [acme.id, other.id].toSorted());
  const asked = grants.find(({ client_id: id }) => id === other.id);
  deepEqual(
    [asked?.client_name, asked?.scopes, asked?.is_first_party],
    ['Other', ['openid', 'email'], false],
  );
  equal(itemsOf(await api('GET', `/users/${eve.id}/grants?client_id=${acme.id}`)).length, 1);

  const mine = grants.find(({ client_id: id }) => id === acme.id);
  const foreign = await api('DELETE', `/users/${alice.id}/grants/${mine?.id}`);
  deepEqual([foreign.status, errorOf(foreign).reason], [404, 'grant.not_found']);
  equal(await isActive(app, tokens.access_token), true);
  equal((await api('DELETE', `/users/${eve.id}/grants/${mine?.id}`)).status, 204);
  equal(await isActive(app, tokens.access_token), false);
  equal((await refresh(app, acme, tokens.refresh_token)).body.error, 'invalid_grant');

  equal((await api('DELETE', `/users/${eve.id}/grants/${asked?.id}`)).status, 204);
  const page = await agent.authorize({
    client_id: other.id,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: 'https://rp.example/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  ok(page.body.includes('value="allow"'), 'the consent page again');
  deepEqual(itemsOf(await api('GET', `/users/${eve.id}/grants`)), []);
  const events = itemsOf(await api('GET', '/audit?event=consent.revoked'));
  // Whose access to what it was, not the id of something that is gone.
  deepEqual(
    events.map(({ target_kind, target_id, client_id, details }) => [
      target_kind,
      target_id,
      client_id,
      Object(details).grant_id,
      Object(details).scopes,
    ]),
    [
      ['user', eve.id, other.id, asked?.id, asked?.scopes],
      ['user', eve.id, acme.id, mine?.id, mine?.scopes],
    ],
  );
  equal((await api('GET', '/users/nobody/grants')).status, 404);
});
