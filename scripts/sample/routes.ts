// The routes of the sample. HTTP itself is in server.ts.
import { randomBytes } from 'node:crypto';
import type { BrowserSession, Browsers } from './browsers.ts';
import type { Connection } from './connection.ts';
import type { Html } from './html.ts';
import { problemPage, REGISTERED_PATH, setupPage, signedOutPage } from './pages.ts';
import { Problem } from './problem.ts';
import type { Answer, Handler, Question } from './server.ts';
import type { Prompt, SignIn, Tokens } from './sign-in.ts';
import { signedInPage } from './signed-in-page.ts';
import type { Claims } from './token-facts.ts';

interface Deps {
  readonly connection: Connection;
  readonly signIn: SignIn;
  readonly browsers: Browsers;
  readonly redirectUri: string;
  readonly homeUri: string;
}

const HOME: Answer = { location: '/' };
const PROMPTS: readonly Prompt[] = ['login', 'consent', 'select_account', 'none'];

const page = (content: Html, status = 200): Answer => ({ page: content, status });

const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  throw error;
};

const takeNotice = (visit: BrowserSession | undefined): BrowserSession['notice'] => {
  const notice = visit?.notice;
  if (visit !== undefined) visit.notice = undefined;
  return notice;
};

export function createRoutes(deps: Deps): Readonly<Record<string, Handler>> {
  const { connection, signIn, browsers, redirectUri, homeUri } = deps;
  const place = { issuer: connection.issuer, redirectUri, homeUri };

  const failed = (problem: Problem, title: string, label: string, href: string): Answer =>
    page(
      problemPage(title, problem, { label, href }, connection.clientId),
      problem.kind === 'unreachable' ? 503 : 400,
    );

  const setup = (
    { request, response }: Question,
    more: { clientId?: string; problem?: Problem } = {},
  ): Html => {
    const visit = browsers.findOrCreate(request, response);
    visit.registrationState ??= randomBytes(16).toString('base64url');
    return setupPage(place, { state: visit.registrationState, ...more });
  };

  /** The way back from the provider's form. Another site may send a browser here, but does not know the state. */
  async function registered({ request, url }: Question): Promise<Answer> {
    const visit = browsers.find(request);
    const state = visit?.registrationState;
    const clientId = url.searchParams.get('client_id') ?? '';
    if (visit === undefined || state === undefined || url.searchParams.get('state') !== state || !clientId) {
      const problem = new Problem('other', 'This registration was not started here, or is already complete.');
      return failed(problem, 'The sample was not connected', 'Back', '/');
    }
    visit.registrationState = undefined;
    try {
      await connection.configure({ clientId });
    } catch (error) {
      return failed(asProblem(error), 'The sample is not connected', 'Back', '/');
    }
    return { location: '/sign-in' };
  }

  async function home(question: Question): Promise<Answer> {
    const { request, url } = question;
    const visit = browsers.find(request);
    if (visit?.signOutState !== undefined && url.searchParams.get('state') === visit.signOutState) {
      visit.signOutState = undefined;
      visit.notice = { text: `You’re signed out, here and at ${connection.issuer.host}.` };
      return HOME;
    }
    if (visit?.tokens !== undefined) {
      const { tokens } = visit;
      const userinfo = await signIn.userinfo(tokens).catch(asProblem);
      const notice = takeNotice(visit);
      const { issuer, canIntrospect } = connection;
      return page(signedInPage({ tokens, userinfo, notice, issuer, canIntrospect, now: Date.now() }));
    }
    if (!connection.isConfigured) return page(setup(question));
    try {
      await connection.configuration();
    } catch (error) {
      return failed(asProblem(error), 'The sample is not connected', 'Try again', '/');
    }
    return page(
      signedOutPage({ issuer: connection.issuer, clientId: connection.clientId }, takeNotice(visit)),
    );
  }

  async function connect(question: Question): Promise<Answer> {
    const { form } = question;
    const clientId = form.get('client_id')?.trim() ?? '';
    const clientSecret = form.get('client_secret')?.trim() || undefined;
    try {
      if (clientId === '') throw new Problem('other', 'The client ID is missing.');
      await connection.configure({ clientId, clientSecret });
    } catch (error) {
      return page(setup(question, { clientId, problem: asProblem(error) }), 400);
    }
    browsers.forgetAll();
    return HOME;
  }

  async function forget(): Promise<Answer> {
    connection.forget();
    browsers.forgetAll();
    return HOME;
  }

  async function begin({ request, response, url }: Question): Promise<Answer> {
    const prompt = PROMPTS.find((known) => known === url.searchParams.get('prompt'));
    try {
      const { url: target, pending } = await signIn.begin(prompt);
      browsers.remember(browsers.findOrCreate(request, response), pending);
      return { location: target.href };
    } catch (error) {
      return failed(asProblem(error), 'The sign-in could not be started', 'Back', '/');
    }
  }

  async function callback({ request, response, url }: Question): Promise<Answer> {
    const visit = browsers.find(request);
    const pending = visit?.pending.get(url.searchParams.get('state') ?? '');
    if (pending === undefined) {
      // The back button, or a page loaded twice: the browser is already signed in.
      if (visit?.tokens !== undefined) return HOME;
      const problem = new Problem(
        'other',
        'This sign-in was already completed, or was started in another browser.',
      );
      return failed(problem, 'The sign-in failed', 'Start again', '/sign-in');
    }
    visit?.pending.delete(pending.state);
    try {
      const tokens = await signIn.complete(url, pending);
      browsers.renew(request, response).tokens = tokens;
      return HOME;
    } catch (error) {
      return failed(asProblem(error), 'The sign-in failed', 'Try again', '/sign-in');
    }
  }

  /** A button: performs the action, sets the notice and shows the page again. */
  const action =
    (
      act: (tokens: Tokens, visit: BrowserSession, url: URL) => Promise<{ text: string; answer?: Claims }>,
    ): Handler =>
    async ({ request, url }) => {
      const visit = browsers.find(request);
      if (visit?.tokens === undefined) return HOME;
      try {
        visit.notice = await act(visit.tokens, visit, url);
      } catch (error) {
        const { message, code, advice = '' } = asProblem(error);
        visit.notice = {
          text: `${message}${code === undefined ? '' : ` (${code})`}. ${advice}`,
          isProblem: true,
        };
      }
      return HOME;
    };

  const refresh = action(async (tokens, visit) => {
    visit.tokens = await signIn.refresh(tokens);
    return { text: 'Refreshed: there is a new access token, and a new refresh token for the next time.' };
  });

  const introspect = action(async ({ accessToken }) => ({
    text: 'The provider’s introspection response for the access token:',
    answer: await signIn.introspect(accessToken),
  }));

  const revoke = action(async ({ accessToken, refreshToken }, _visit, url) => {
    if (url.searchParams.get('token') === 'refresh' && refreshToken !== undefined) {
      await signIn.revoke(refreshToken, 'refresh_token');
      return { text: 'Refresh token revoked. Everything issued by this sign-in is now invalid.' };
    }
    await signIn.revoke(accessToken, 'access_token');
    return { text: 'Access token revoked. Userinfo refuses it now; Refresh gets a new one.' };
  });

  async function signOut({ request, response }: Question): Promise<Answer> {
    const tokens = browsers.find(request)?.tokens;
    if (tokens === undefined) return HOME;
    // First here: whatever happens at the provider, this application has ended its session.
    const visit = browsers.renew(request, response);
    const state = randomBytes(16).toString('base64url');
    try {
      const url = await signIn.signOutUrl(tokens, state);
      visit.signOutState = state;
      return { location: url.href };
    } catch (error) {
      return failed(asProblem(error), 'Signed out here only', 'Back', '/');
    }
  }

  return {
    'GET /': home,
    [`GET ${REGISTERED_PATH}`]: registered,
    'POST /connect': connect,
    'POST /forget': forget,
    'GET /sign-in': begin,
    'GET /callback': callback,
    'POST /refresh': refresh,
    'POST /introspect': introspect,
    'POST /revoke': revoke,
    'POST /sign-out': signOut,
  };
}
