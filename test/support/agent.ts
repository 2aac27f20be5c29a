// A browser without a screen: keeps cookies, sends forms as a browser does, follows redirects on this provider and stops at the
// client's. The looks of pages are tested in Chromium.
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { PASSWORD, REDIRECT_URI, type TestApp } from './app.ts';

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Absolute; where a redirect leads, if it is one. */
  readonly location: string | undefined;
  /** The URL that answered. */
  readonly url: string;
}

export interface Authorization {
  readonly code: string;
  readonly verifier: string;
  readonly response: URLSearchParams;
}

export class Agent {
  readonly #origin: string;
  readonly #connect: string;
  readonly #base: string;
  readonly #cookies = new Map<string, { value: string; path: string; until?: number | undefined }>();

  /** @param options.publicUrl BASE_URL where it is not the address to connect to, as behind a proxy */
  constructor(app: Pick<TestApp, 'url'>, options: { publicUrl?: string } = {}) {
    this.#connect = new URL(app.url).origin;
    this.#base = options.publicUrl ?? app.url;
    this.#origin = new URL(this.#base).origin;
  }

  /** `name=value` of the cookies a request to this path would carry. */
  cookiesFor(path: string): string {
    return [...this.#cookies]
      .filter(([, { until = Number.POSITIVE_INFINITY }]) => until > Date.now())
      .filter(([, { path: scope }]) => path === scope || path.startsWith(scope.replace(/\/?$/, '/')))
      .map(([key, { value }]) => `${key.slice(key.indexOf(' ') + 1)}=${value}`)
      .join('; ');
  }

  clearCookies(): void {
    this.#cookies.clear();
  }

  /** Puts cookies of another browser here, as `cookiesFor` gives them; they go along with every request from now on. */
  plant(cookies: string): void {
    for (const pair of cookies.split('; ').filter(Boolean)) {
      const name = pair.slice(0, pair.indexOf('='));
      this.#cookies.set(`/ ${name}`, { value: pair.slice(name.length + 1), path: '/' });
    }
  }

  #keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      const attribute = (key: string): string | undefined =>
        attributes.find((item) => item.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
      const path = attribute('path') ?? '/';
      const expires = attribute('expires');
      const until = expires === undefined ? undefined : Date.parse(expires);
      const isGone = value === '' || (until !== undefined && until <= Date.now());
      if (isGone) this.#cookies.delete(`${path} ${name}`);
      else this.#cookies.set(`${path} ${name}`, { value, path, until });
    }
  }

  async request(target: string, init: RequestInit = {}): Promise<Page> {
    const url = new URL(target, `${this.#base}/`);
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    if (url.origin === this.#origin) headers.set('cookie', this.cookiesFor(url.pathname));
    const reached =
      url.origin === this.#origin ? new URL(url.href.slice(url.origin.length), this.#connect) : url;
    const send = headers.has('sec-fetch-mode') ? sendExactly : fetch;
    const response = await send(reached, { ...init, headers, redirect: 'manual' });
    this.#keep(response.headers);
    const location = response.headers.get('location');
    return {
      status: response.status,
      headers: response.headers,
      body: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
      url: url.href,
    };
  }

  get(target: string, init: RequestInit = {}): Promise<Page> {
    return this.request(target, init);
  }

  post(target: string, fields: Record<string, string>, init: RequestInit = {}): Promise<Page> {
    return this.request(target, { method: 'POST', body: new URLSearchParams(fields), ...init });
  }

  /** Follows redirects as long as they stay here. */
  async follow(page: Page): Promise<Page> {
    let current = page;
    for (let hops = 0; current.location?.startsWith(this.#base) === true; hops += 1) {
      if (hops > 10) throw new Error(`too many redirects, last to ${current.location}`);
      current = await this.get(current.location);
    }
    return current;
  }

  /** Sends the page's form with its hidden fields, and follows. */
  async submit(page: Page, fields: Record<string, string>): Promise<Page> {
    const [, action] = /<form[^>]*action="([^"]*)"/.exec(page.body) ?? [];
    if (action === undefined)
      throw new Error(`no form on this page (${page.status}): ${page.body.slice(0, 500)}`);
    const target = new URL(unescapeHtml(action), page.url).href;
    return this.follow(await this.post(target, { ...hiddenFields(page.body), ...fields }));
  }

  /** @returns the first answer: the sign-in page, or the redirect to the application */
  authorize(parameters: Record<string, string | undefined>): Promise<Page> {
    const given = Object.entries(parameters).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return this.get(`${this.#base}/oauth2/authorize?${new URLSearchParams(given)}`);
  }

  /** From the answer of the authorization endpoint on: fills in the pages that come. @returns where the application gets it */
  async finish(first: Page, user: { username: string; password?: string }): Promise<URL> {
    let page = first;
    if (page.status === 200 && page.body.includes('name="password"')) {
      page = await this.submit(page, { username: user.username, password: user.password ?? PASSWORD });
    }
    if (page.status === 200 && page.body.includes('/oauth2/consent'))
      page = await this.submit(page, { action: 'allow' });
    if (page.location === undefined)
      throw new Error(`not at the application: ${page.status} ${/<h1[\s\S]*<\/main>/.exec(page.body)?.[0]}`);
    return new URL(page.location);
  }

  /** The whole way from the application and back to it with a code. */
  async signIn(
    clientId: string,
    user: { username: string; password?: string },
    parameters: Record<string, string | undefined> = {},
  ): Promise<Authorization> {
    const verifier = randomBytes(32).toString('base64url');
    const first = await this.authorize({
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      // Only applications that open accounts get the last one.
      scope: 'openid profile email account',
      state: 'st',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      ...parameters,
    });
    const response = (await this.finish(first, user)).searchParams;
    return { code: response.get('code') ?? '', verifier, response };
  }
}

/** Node's fetch writes its own Sec-Fetch-Mode over what it is given; what a browser says needs a plainer client. */
function sendExactly(url: URL, { method = 'GET', headers, body }: RequestInit): Promise<Response> {
  const sent = new Headers(headers);
  if (body instanceof URLSearchParams) sent.set('content-type', 'application/x-www-form-urlencoded');
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, headers: Object.fromEntries(sent), agent: false },
      async (answer) => {
        const received = new Headers();
        for (const [name, values = []] of Object.entries(answer.headersDistinct))
          for (const value of values) received.append(name, value);
        resolve(new Response(await text(answer), { status: answer.statusCode ?? 0, headers: received }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body === undefined || body === null ? undefined : String(body));
  });
}

export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

/** Of every request by `codeRequest`. */
export const VERIFIER = 'v'.repeat(43);

/** An authorization request of which the code, if there is one, is not redeemed. */
export const codeRequest = (clientId: string) => ({
  client_id: clientId,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid',
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: 'S256',
});

export function hiddenFields(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  // The menu of languages is a form of its own.
  const forms = html.replace(/<details class="languages">[\s\S]*?<\/details>/, '');
  for (const [input] of forms.matchAll(/<input[^>]*>/g)) {
    const isHidden = /type="hidden"|\shidden(?:\s|>)/.test(input);
    const name = /name="([^"]*)"/.exec(input)?.[1];
    if (isHidden && name !== undefined) fields[name] = unescapeHtml(/value="([^"]*)"/.exec(input)?.[1] ?? '');
  }
  return fields;
}

const unescapeHtml = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

export interface Tokens {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    access_token: string;
    refresh_token: string;
    id_token: string;
    error?: string;
  };
}

/** The token endpoint with client_secret_basic, or as a public client when there is no secret. */
export async function requestTokens(
  app: Pick<TestApp, 'url'>,
  client: { id: string; secret: string },
  parameters: Record<string, string>,
): Promise<Tokens> {
  const credentials = Buffer.from(`${encodeURIComponent(client.id)}:${encodeURIComponent(client.secret)}`);
  const response = await fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    headers: client.secret === '' ? {} : { authorization: `Basic ${credentials.toString('base64')}` },
    body: new URLSearchParams({ ...parameters, ...(client.secret === '' ? { client_id: client.id } : {}) }),
  });
  const body: Tokens['body'] = JSON.parse(await response.text());
  return { status: response.status, body };
}

export const redeem = (
  app: Pick<TestApp, 'url'>,
  client: { id: string; secret: string },
  { code, verifier }: Pick<Authorization, 'code' | 'verifier'>,
): Promise<Tokens> =>
  requestTokens(app, client, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  });

export const refresh = (
  app: Pick<TestApp, 'url'>,
  client: { id: string; secret: string },
  token: string,
): Promise<Tokens> => requestTokens(app, client, { grant_type: 'refresh_token', refresh_token: token });
