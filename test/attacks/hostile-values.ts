// Bodies that no address accepts, and readable but unusual ones, for attacks on every address.

import { gzipSync } from 'node:zlib';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const MIB = 1024 * 1024;

export interface Hostile {
  readonly type?: string;
  readonly body: string | Uint8Array;
  readonly headers?: readonly (readonly [string, string])[];
}

const many = (count: number, make: (index: number) => string, between: string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(between);
const json = (body: string): Hostile => ({ type: JSON_TYPE, body });
const form = (body: string): Hostile => ({ type: FORM, body });
const bytes = (...parts: (string | number)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

/** None of these is anything that an address could take. */
export const hopeless: Readonly<Record<'form' | 'json', Readonly<Record<string, Hostile>>>> = {
  form: {
    '1 MiB': form(`username=${'a'.repeat(MIB)}`),
    '1 MiB without a length': { ...form('a='.repeat(MIB / 2)), headers: [['Transfer-Encoding', 'chunked']] },
    '100,000 fields': form(many(100_000, (index) => `f${index}=1`, '&')),
    '5,000 fields': form(many(5000, (index) => `f${index}=1`, '&')),
    'bytes that are no UTF-8': { type: FORM, body: bytes('username=', 0xff, 0xfe, '&password=a') },
    'overlong UTF-8': { type: FORM, body: bytes('username=', 0xc0, 0xaf) },
    'percent signs that are no UTF-8': form('username=%ff%fe'),
    'half a percent sign': form('username=%4&x=%'),
    'a NUL character': form('username=al%00ice'),
    'a name of prototypes': form('__proto__=1&username=a'),
    'another name of prototypes': form('constructor=1&username=a'),
    'a name twice': form('username=a&username=b&client_id=a&client_id=b&token=a&token=b&state=a&state=b'),
    gzip: {
      ...form(''),
      body: gzipSync('username=a'.repeat(10_000)),
      headers: [['Content-Encoding', 'gzip']],
    },
    multipart: {
      type: 'multipart/form-data; boundary=x',
      body: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
    },
    JSON: json('{"username":"a"}'),
    'another charset': { type: `${FORM}; charset=utf-16`, body: 'username=a' },
    'no type': { body: 'username=a' },
  },
  json: {
    '10 MiB': json(`{"username":"${'a'.repeat(10 * MIB)}"}`),
    '1 MiB without a length': {
      ...json(`"${'a'.repeat(MIB)}"`),
      headers: [['Transfer-Encoding', 'chunked']],
    },
    '100,000 deep': json('['.repeat(100_000) + ']'.repeat(100_000)),
    '40,000 deep': json('['.repeat(40_000) + ']'.repeat(40_000)),
    '15,000 objects deep': json('{"a":'.repeat(15_000) + 1 + '}'.repeat(15_000)),
    '40,000 deep, never closed': json('['.repeat(40_000)),
    '100,000 keys': json(`{${many(100_000, (index) => `"k${index}":1`, ',')}}`),
    '9,000 keys': json(`{${many(9000, (index) => `"k${index}":1`, ',')}}`),
    'a list of 40,000': json(`[${many(40_000, () => '1', ',')}]`),
    'bytes that are no UTF-8': { type: JSON_TYPE, body: bytes('{"username":"', 0xff, 0xfe, '"}') },
    'half a character': json('{"username":"\\ud800","label":"\\udfff"}'),
    'a NUL character': json('{"username":"al\\u0000ice","label":"\\u0000","client_name":"\\u0000"}'),
    'a name of prototypes': json('{"__proto__":{"isAdmin":true},"username":"a"}'),
    'a nested name of prototypes': json('{"address":{"constructor":{"prototype":{"a":1}}}}'),
    'no JSON': json("{'username': undefined}"),
    'a string': json('"text"'),
    null: json('null'),
    'a number': json('1e999'),
    'a list': json('[{}]'),
    gzip: { type: JSON_TYPE, body: gzipSync('{}'), headers: [['Content-Encoding', 'gzip']] },
    'a form': form('username=a'),
    text: { type: 'text/plain', body: '{}' },
    'another charset': { type: `${JSON_TYPE}; charset=utf-16`, body: '{}' },
    'no type': { body: '{}' },
  },
};

const LONG = 'x'.repeat(10_000);
const FORM_NAMES = [
  'username',
  'password',
  'interaction',
  'csrf',
  'client_id',
  'token',
  'code',
  'user_code',
  'xsrf',
];

/** Readable, so an address may take them; but nothing may break. */
export const long: Readonly<Record<'form' | 'json', readonly Hostile[]>> = {
  form: [
    ...FORM_NAMES.map((name) => form(`${name}=${LONG}&client_id_=a`)),
    ...['grant_type', 'refresh_token', 'scope', 'redirect_uri', 'claims', 'request', 'client_assertion'].map(
      (name) => form(`client_id=latchkey-admin&${name}=${LONG}`),
    ),
    form(`${LONG}=a`),
    form(`username=${encodeURIComponent('𝔘'.repeat(2500))}&password=${encodeURIComponent('ﷺ'.repeat(1000))}`),
  ],
  json: [
    ...['username', 'password', 'email', 'client_name', 'label', 'product_name', 'user_id'].map((name) =>
      json(`{"${name}":"${LONG}"}`),
    ),
    json(`{"${LONG}":1}`),
    json(`{"username":"${'𝔘'.repeat(5000)}","password":"${'ﷺ'.repeat(5000)}"}`),
    json(`{"redirect_uris":["https://${'a.'.repeat(5000)}example/"],"client_name":"a"}`),
    json('{"username":{"$ne":1},"password":{"$gt":""}}'),
  ],
};
