// Prepares what the measured operations need: an application, a user, a signed-in browser, codes and tokens.
interface Deps {
  readonly url: string;
  readonly adminToken: string;
  readonly digest: (verifier: string) => string;
}

export interface Prepared {
  readonly adminToken: string;
  /** Authorization header of the application. */
  readonly basic: string;
  codes(count: number): Promise<string[]>;
  /** The form that redeems a code. */
  exchange(code: string): string;
  refreshTokens(count: number): Promise<string[]>;
  accessToken(): Promise<string>;
}

const REDIRECT_URI = 'https://rp.example/callback';
const VERIFIER = 'v'.repeat(43);

export async function prepare({ url, adminToken, digest }: Deps): Promise<Prepared> {
  const admin = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(`${url}/admin/api${path}`, {
      method: 'POST',
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
  await admin('/users', { username: 'bench', password: 'correct horse battery' });
  const basic = `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`;
  const query = new URLSearchParams({
    client_id: client.client_id ?? '',
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email',
    code_challenge: digest(VERIFIER),
    code_challenge_method: 'S256',
  });
  const authorizeUrl = `${url}/oauth2/authorize?${query}`;

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
  const form = new URLSearchParams({ username: 'bench', password: 'correct horse battery' });
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
  const redeem = async (value: string): Promise<{ access_token: string; refresh_token: string }> => {
    const headers = { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${url}/oauth2/token`, { method: 'POST', headers, body: exchange(value) });
    if (!response.ok) throw new Error(`code not redeemed: ${await response.text()}`);
    return JSON.parse(await response.text());
  };

  return {
    adminToken,
    basic,
    codes,
    exchange,
    async refreshTokens(count) {
      const all = await Promise.all((await codes(count)).slice(0, count).map(redeem));
      return all.map(({ refresh_token: token }) => token);
    },
    async accessToken() {
      return (await redeem(await code())).access_token;
    },
  };
}
