// Prepares what the measured operations need: an application, an API, a user, a signed-in browser, codes and tokens.
import { createHash } from 'node:crypto';

interface Deps {
  readonly url: string;
  readonly adminToken: string;
}

export interface Prepared {
  readonly adminToken: string;
  /** Authorization header of the application. */
  readonly basic: string;
  /** Authorization header of an application whose machine tokens are opaque, for the API that it names by default. */
  readonly opaque: string;
  /** Path and query of its authorization request. */
  readonly authorize: string;
  codes(count: number): Promise<string[]>;
  /** The form that redeems a code. */
  exchange(code: string): string;
  refreshTokens(count: number): Promise<string[]>;
  accessToken(): Promise<string>;
  /** Nobody has asked about them yet. */
  accessTokens(count: number): Promise<string[]>;
}

const REDIRECT_URI = 'https://rp.example/callback';
const VERIFIER = 'v'.repeat(43);

export const USER = { username: 'bench', password: 'correct horse battery' } as const;

const basicOf = ({ client_id: id, client_secret: secret }: Record<string, string>): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

export async function prepare({ url, adminToken }: Deps): Promise<Prepared> {
  const admin = async (path: string, body: object, method = 'POST'): Promise<Record<string, string>> => {
    const response = await fetch(`${url}/admin/api${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return JSON.parse(await response.text()).data;
  };
  const client = await admin('/clients', {
    client_name: 'Bench',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    skip_consent: true,
  });
  const machine = await admin('/clients', {
    client_name: 'Bench machine',
    redirect_uris: [],
    grant_types: ['client_credentials'],
  });
  const identifier = 'https://api.example/bench';
  await admin('/resources', {
    identifier,
    name: 'Bench',
    scopes: [{ name: 'read', description: 'Read', is_default: true }],
    machine_grants: { [machine.client_id ?? '']: ['read'] },
    access_token_format: 'opaque',
  });
  await admin(`/clients/${machine.client_id}`, { default_resource: identifier }, 'PATCH');
  await admin('/users', USER);
  // All come from one address.
  await admin('/settings', { limit_authorize_ip: 0, limit_open_signins_ip: 0 }, 'PATCH');
  const query = new URLSearchParams({
    client_id: client.client_id ?? '',
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const authorize = `/oauth2/authorize?${query}`;
  const authorizeUrl = `${url}${authorize}`;
  const basic = basicOf(client);

  const cookies = new Map<string, string>();
  const call = async (target: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(target, {
      ...init,
      headers: { accept: 'text/html', cookie },
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s);
      cookies.set(name, value);
    }
    return response;
  };
  const page = await (await call(authorizeUrl)).text();
  const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
  const form = new URLSearchParams(USER);
  for (const name of ['csrf', 'interaction']) form.set(name, field(name));
  const sent = await call(`${url}/oauth2/login`, { method: 'POST', body: form });
  await call(new URL(sent.headers.get('location') ?? '', url).href);

  const code = async (): Promise<string> => {
    const response = await call(authorizeUrl);
    const found = new URL(response.headers.get('location') ?? '', url).searchParams.get('code');
    if (found === null) throw new Error(`no code: ${response.status} ${await response.text()}`);
    return found;
  };
  const codes = async (count: number): Promise<string[]> => {
    const all: string[] = [];
    while (all.length < count) all.push(...(await Promise.all(Array.from({ length: 8 }, code))));
    return all;
  };
  const exchange = (value: string): string =>
    new URLSearchParams({
      grant_type: 'authorization_code',
      code: value,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    }).toString();
  const tokensFor = async (body: string): Promise<{ access_token: string; refresh_token: string }> => {
    const headers = { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${url}/oauth2/token`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`no tokens: ${await response.text()}`);
    return JSON.parse(await response.text());
  };
  const redeem = (value: string) => tokensFor(exchange(value));

  return {
    adminToken,
    basic,
    opaque: basicOf(machine),
    authorize,
    codes,
    exchange,
    async refreshTokens(count) {
      const all = await Promise.all((await codes(count)).slice(0, count).map(redeem));
      return all.map(({ refresh_token: token }) => token);
    },
    async accessToken() {
      return (await redeem(await code())).access_token;
    },
    async accessTokens(count) {
      const all: string[] = [];
      const refreshed = async (): Promise<void> => {
        let { access_token: token, refresh_token: next } = await redeem(await code());
        while (all.push(token) < count)
          ({ access_token: token, refresh_token: next } = await tokensFor(
            `grant_type=refresh_token&refresh_token=${next}`,
          ));
      };
      await Promise.all(Array.from({ length: 8 }, refreshed));
      return all;
    },
  };
}
