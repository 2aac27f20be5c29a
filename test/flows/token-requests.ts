// Requests to the token endpoint as client libraries send them, and as nobody should: for the tests of plain answers.
import { ADMIN_TOKEN } from '../support/app.ts';
import type { Random, Sent } from '../support/twins.ts';
import { basic, bearer, type Client } from './support.ts';

export const TOKEN = '/oauth2/token';
/** The same endpoint below `/oauth2` or `/realms/{name}` (decision 0001). */
export const KEYCLOAK_TOKEN = '/protocol/openid-connect/token';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

type Fields = readonly (readonly [string, string])[];

const bodyOf = (fields: Fields): string =>
  new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString();

const post = (fields: Fields, headers: Record<string, string> = {}): Sent => ({
  method: 'POST',
  path: TOKEN,
  headers: { ...FORM, ...headers },
  body: bodyOf(fields),
});

/** @param place of the credentials; a client without a secret has its id in the form */
export function tokenRequest(who: Client, fields: Fields, place: string): Sent {
  if (who.secret === '') return post([...fields, ['client_id', who.id]]);
  if (place === 'header') return post(fields, basic(who));
  return post([['client_id', who.id], ...fields, ['client_secret', who.secret]]);
}

export function oddCredentials(random: Random, who: Client, fields: Fields): Sent {
  const { id, secret } = who;
  const inForm: Fields = [
    ['client_id', id],
    ['client_secret', secret],
  ];
  const raw = (text: string, scheme = 'Basic'): Record<string, string> => ({
    authorization: `${scheme} ${Buffer.from(text).toString('base64')}`,
  });
  return random.pick<Sent>([
    post(fields, basic(who)),
    post([...fields, ...inForm]),
    post([...fields, ...inForm], basic(who)),
    post([...fields, ['client_id', id]], basic(who)),
    post([...fields, ['client_id', 'another']], basic(who)),
    post(fields, basic({ id, secret: `${secret}x` })),
    post([...fields, ['client_id', id], ['client_secret', 'wrong']]),
    post([...fields, ['client_id', id]]),
    post(fields, raw(`${id}:`)),
    post(fields, raw(id)),
    post(fields, raw(`${id}:${secret}`, 'basic')),
    post(fields, raw(`${id}:${secret}`, 'Basic ')),
    post(fields, raw(`%${id.charCodeAt(0).toString(16)}${id.slice(1)}:${secret}`)),
    post(fields, raw(`${id.replaceAll('-', '%2D')}:${secret.replaceAll('-', '%2d').replaceAll('_', '%5F')}`)),
    post(fields, raw(`${id}:${secret}%7F`)),
    post(fields, raw(`${id}:${secret}+`)),
    post([...fields, ...inForm], raw(`${id}:`)),
    post([...fields, ['client_id', id]], raw(`${id}:`)),
    post(fields),
    post(fields, bearer(ADMIN_TOKEN)),
    post(fields, { authorization: 'DPoP x' }),
  ]);
}

export const oddHeaders: readonly Record<string, string>[] = [
  { origin: 'https://rp.example' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { cookie: 'a=b' },
  { dpop: 'x.y.z' },
  { 'content-type': 'application/json' },
  { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
  { 'content-type': 'application/x-www-form-urlencoded; charset=latin1' },
  { 'content-encoding': 'gzip' },
  { accept: 'text/html' },
  { 'accept-language': 'de' },
  { 'x-forwarded-for': '203.0.113.9' },
  { 'oauth-client-attestation': 'x.y.z' },
  { 'user-agent': 'x'.repeat(400) },
  { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAB' },
  { upgrade: 'websocket' },
];

export const oddFields = (random: Random, encoded: string): string =>
  random.pick([
    `${encoded}&scope=a&scope=b`,
    `${encoded}&resource=a&resource=b`,
    `${encoded}&client_secret=a&client_secret=b`,
    `${encoded}&`,
    `&${encoded}`,
    `${encoded}&x=y`,
    `${encoded}&x=`,
    `${encoded}&state=a&X-AnchorMailbox=Oid%3Aa%40b&client_info=1`,
    `${encoded}&username=&password=`,
    `${encoded}&claims=%7B%22userinfo%22%3A%7B%7D%7D`,
    `${encoded}&resource=`,
    `${encoded}&client_id=`,
    `${encoded}&client_secret=`,
    `${encoded}&client_assertion=x.y.z`,
    `${encoded}&client_assertion_type=`,
    `${encoded}&authorization_details=%5B%5D`,
    `${encoded}&code=x`,
    `${encoded}&refresh_token=x`,
    `${encoded}&device_code=x`,
    `${encoded}&scope=`,
    `${encoded}&scope=%22`,
    `${encoded}&scope=%C3%A9`,
    `${encoded}&scope=email%00`,
    `${encoded}&scope=email%7F`,
    `${encoded}&scope=%20email`,
    `${encoded}&__proto__=x`,
    `${encoded}&constructor=x`,
    `${encoded}&grant_type=password`,
    `${encoded}%`,
    encoded.replace('grant_type', '%67rant_type'),
    encoded.replace(/grant_type=\w+/, 'grant_type=password'),
    encoded.replace(/grant_type=\w+/, 'grant_type=implicit'),
    encoded.replace(/grant_type=\w+/, 'grant_type=__proto__'),
    encoded.replace(/&?grant_type=\w+/, ''),
    encoded.replace(/(?<=grant_type=)c/, '%63'),
    '',
  ]);
