// The product as it is shipped, for clients that others wrote, and a person with a browser who signs in to them.
import { Agent, hiddenFields, type Page } from '../../support/agent.ts';
import { PASSWORD, startApp, type TestApp, type TestAppOptions } from '../../support/app.ts';

export const PERSON = { username: 'grace', email: 'grace@example.com', password: PASSWORD } as const;

/** How a person's browser asks for a page that a link of another site leads to. */
const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-GB,en;q=0.9',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-user': '?1',
  'upgrade-insecure-requests': '1',
};

/** How it sends a form of ours to a client (OAuth 2.0 Form Post Response Mode). */
const FORM_POST = { ...NAVIGATION, 'content-type': 'application/x-www-form-urlencoded' };

/** The person's browser: the provider's pages are filled in, clients' own servers are followed to. */
export interface Browser {
  /** Sign-in and consent. @returns where the client gets the answer, with its query */
  signIn(authorizeUrl: string): Promise<string>;
  /** The device flow's pages, by `verification_uri_complete`. */
  approve(verificationUriComplete: string): Promise<void>;
  /** @returns where the browser is sent back to, or the provider's own page; throws when a session is left */
  signOut(logoutUrl: string): Promise<string>;
  /**
   * Follows links of any origin, signs in where it is asked to.
   * @param fields sends the form of the page that is there first
   * @returns the page where it ends
   */
  visit(url: string, fields?: Readonly<Record<string, string>>): Promise<Page>;
}

export interface Issuer {
  readonly app: TestApp;
  /** BASE_URL, without a trailing slash. */
  readonly url: string;
  readonly issuer: string;
  /** By the admin API, with nothing but what is given. `client_secret` is '' for a public client. */
  registerClient(
    metadata: Readonly<Record<string, unknown>>,
  ): Promise<{ client_id: string; client_secret: string }>;
  /** In a browser of its own: see Browser. */
  signIn(authorizeUrl: string): Promise<string>;
  newBrowser(): Browser;
  /** Log lines of refused requests, for the messages of failures. */
  refusals(): string[];
  close(): Promise<void>;
}

export async function startIssuer(options: TestAppOptions = {}): Promise<Issuer> {
  const app = await startApp({ store: 'sqlite', limits: 'shipped', ...options });
  await app.createUser(PERSON.username, {
    email: PERSON.email,
    is_email_verified: true,
    given_name: 'Grace',
    family_name: 'Hopper',
  });
  const newBrowser = (): Browser => createBrowser(app);
  return {
    app,
    url: app.url,
    issuer: app.issuer,
    newBrowser,
    signIn: (authorizeUrl) => newBrowser().signIn(authorizeUrl),
    refusals: () => app.logged.filter((line) => line.includes('"event":"refused"')),
    close: () => app.stop(),
    async registerClient(metadata) {
      const { status, body } = await app.admin('POST', '/clients', {
        client_name: 'A client that others wrote',
        ...metadata,
      });
      if (status !== 201) throw new Error(`client not registered: ${JSON.stringify(body)}`);
      return {
        client_id: String(body.data.client_id),
        client_secret: String(body.data.client_secret ?? ''),
      };
    },
  };
}

/** What the person enters on a page of the provider; undefined where nothing is asked. */
function entryOn({ status, body, url }: Page): Record<string, string> | undefined {
  if (status !== 200) return undefined;
  if (/\/logout$/.test(new URL(url).pathname) && body.includes('name="csrf"')) return {};
  if (body.includes('name="password"')) return { username: PERSON.username, password: PERSON.password };
  if (body.includes('/oauth2/consent')) return { action: 'allow' };
  if (body.includes('name="confirm"')) return { confirm: 'yes' };
  const [, code] = /name="user_code"[^>]*value="([^"]+)"/.exec(body) ?? [];
  return code === undefined ? undefined : { user_code: code };
}

function createBrowser(app: TestApp): Browser {
  const agents = new Map<string, Agent>();
  const isOurs = (url: string): boolean => new URL(url).origin === new URL(app.url).origin;

  function agentOf(url: string): Agent {
    const { origin } = new URL(url);
    const agent = agents.get(origin) ?? new Agent({ url: isOurs(url) ? app.url : origin });
    agents.set(origin, agent);
    return agent;
  }

  const load = (url: string): Promise<Page> => agentOf(url).get(url, { headers: NAVIGATION });

  /** @param mayLeave whether a redirect to another origin is followed */
  async function walk(first: Page, mayLeave: boolean): Promise<Page> {
    let page = first;
    for (let steps = 0; steps < 40; steps += 1) {
      const next = page.location;
      if (next !== undefined) {
        if (!mayLeave && !isOurs(next)) return page;
        page = await load(next);
        continue;
      }
      const [, target] = /<form[^>]*action="([^"]+)"[^>]*data-autosubmit/.exec(page.body) ?? [];
      if (mayLeave && target !== undefined) {
        page = await agentOf(target).post(target, hiddenFields(page.body), { headers: FORM_POST });
        continue;
      }
      const entry = isOurs(page.url) ? entryOn(page) : undefined;
      if (entry === undefined) return page;
      page = await agentOf(page.url).submit(page, entry);
    }
    throw new Error(`no end of pages, last ${page.url}`);
  }

  const shown = (page: Page): string =>
    `${page.status} at ${page.url}: ${(/<main[\s\S]*<\/main>/.exec(page.body)?.[0] ?? page.body)
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .slice(0, 1000)}`;

  return {
    async visit(url, fields) {
      const page = await walk(await load(url), true);
      if (fields === undefined) return page;
      return walk(await agentOf(page.url).submit(page, { ...fields }), true);
    },

    async signIn(authorizeUrl) {
      const page = await walk(await load(authorizeUrl), false);
      if (page.location === undefined) throw new Error(`not back at the client: ${shown(page)}`);
      return page.location;
    },

    async approve(verificationUriComplete) {
      const page = await walk(await load(verificationUriComplete), false);
      if (page.status !== 200 || page.body.includes('<form')) throw new Error(`not approved: ${shown(page)}`);
    },

    async signOut(logoutUrl) {
      const page = await walk(await load(logoutUrl), false);
      const agent = agentOf(app.url);
      const account = await agent.follow(await agent.get(`${app.url}/account`, { headers: NAVIGATION }));
      if (!account.body.includes('name="password"')) throw new Error(`still signed in after ${shown(page)}`);
      return page.location ?? page.url;
    },
  };
}
