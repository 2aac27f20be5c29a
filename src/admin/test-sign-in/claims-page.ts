// Which scopes an application may ask for, what each of them brings, and what a user's tokens would then be, or its own. The preview
// is the API's (resources/clients/token-preview.ts): here it gets words.

import type { ApiView } from '../../apis/index.ts';
import type { ClientView } from '../../clients/index.ts';
import { claimsByScope, DIFFERS } from '../../oidc/index.ts';
import { isOn, refusalOf, textOf, versionOf } from '../pages/field-values.ts';
import { shows } from '../pages/form-pages.ts';
import { type AdminContext, get, idOf, type Page, post } from '../pages/page.ts';
import { apis } from '../resources/apis/resource.ts';
import { candidates } from '../resources/audit/pick.ts';
import type { ExplainedClaim } from '../resources/clients/claim-sources.ts';
import { applicationName } from '../resources/clients/page.ts';
import { clients } from '../resources/clients/resource.ts';
import { templateOf } from '../resources/clients/template-of.ts';
import { tokenPreview } from '../resources/clients/token-preview.ts';
import { errorMeaning } from './claim-meanings.ts';
import { claimsIn } from './outcome.ts';
import { scopeAbout } from './request.ts';

const here = 'applications';
const MOST_APIS = '50';
const LONGEST = 200;

/** Those that anyone may be shown; `admin` scopes are given on the application's page. */
const OFFERED = [...Object.keys(claimsByScope), 'offline_access'] as const;
const FIRST_ASKED = ['openid', 'profile', 'email'];

const claimNames: Readonly<Record<string, readonly string[]>> = claimsByScope;

const scopesOf = (client: ClientView): string[] => textOf(client, 'scope').split(' ').filter(Boolean);

const rowsOf = (allowed: readonly string[]) =>
  OFFERED.map((name) => ({
    name,
    about: scopeAbout[name] ?? '',
    claims: name === 'openid' ? [] : (claimNames[name] ?? []),
    isOn: name === 'openid' || allowed.includes(name),
  }));

const isOpenTo = (api: ApiView, clientId: string): boolean =>
  api.clients === 'all' || api.clients.includes(clientId);

/** The scopes of an API that the application has for itself. */
const machineScopesOf = (api: ApiView, clientId: string): readonly string[] =>
  Object.hasOwn(api.machine_grants, clientId) ? (api.machine_grants[clientId] ?? []) : [];

const isMachine = (client: ClientView): boolean => templateOf(client) === 'machine';

const actsForItself = (client: ClientView): boolean =>
  Array.isArray(client.grant_types) && client.grant_types.includes('client_credentials');

type Preview = Awaited<ReturnType<typeof readPreview>>['data'];

const readPreview = (
  context: AdminContext,
  params: { readonly client_id: string; readonly user_id: string },
  query: Readonly<Record<string, string>>,
) => context.call(tokenPreview.read, { params, query });

/** The claims of a token or of userinfo, each with why it is there. */
function explained(made: { readonly payload: object; readonly claims: readonly ExplainedClaim[] } | null) {
  if (made === null) return undefined;
  const sources = new Map(made.claims.map((claim) => [claim.name, claim]));
  return claimsIn({ ...made.payload }).map((claim) => ({
    ...claim,
    isOfOneToken: claim.value === DIFFERS,
    source: sources.get(claim.name),
  }));
}

const shown = (preview: Preview) => ({
  ...preview,
  meaning: preview.refusal === null ? '' : errorMeaning(preview.refusal.error),
  leftOut: preview.scopes.filter(({ state }) => state !== 'granted'),
  idToken: explained(preview.id_token),
  idTokenHeader: claimsIn({ ...preview.id_token?.header }),
  accessToken: explained(preview.access_token),
  accessTokenHeader: claimsIn({ ...preview.access_token?.header }),
  userinfoClaims: explained(preview.userinfo),
});

/** What the preview is asked for: the address has it, so that it can be reloaded and sent to a colleague. */
function askedIn(context: AdminContext, open: readonly ApiView[]) {
  const { query } = context;
  const typed = (query.get('user') ?? '').trim().slice(0, LONGEST);
  const scopes = query.has('asked') ? query.getAll('scope').slice(0, 100) : FIRST_ASKED;
  const api = open.find(({ identifier }) => identifier === query.get('resource'));
  return { typed, scopes: [...new Set(['openid', ...scopes])], api };
}

/** Only names that are one: what else an address says is no scope. */
const scopeParameter = (names: readonly string[]): { scope?: string } => {
  const scope = names.filter((name) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name)).join(' ');
  return scope === '' ? {} : { scope: scope.slice(0, 2000) };
};

async function previewFor(context: AdminContext, clientId: string, open: readonly ApiView[]) {
  const { typed, scopes, api } = askedIn(context, open);
  const asked = { typed, scopes, api };
  if (typed === '') return { asked };
  const found = await candidates(context, typed, ['user']);
  const [user, ...others] = found;
  if (user === undefined || others.length > 0) {
    const choices = found.map((one) => {
      const query = new URLSearchParams(context.query);
      query.set('user', `${one.label} (${one.note})`);
      return { ...one, href: `/applications/${encodeURIComponent(clientId)}/claims?${query}` };
    });
    return { asked, choices };
  }
  const { data } = await readPreview(
    context,
    { client_id: clientId, user_id: user.id },
    { ...scopeParameter(scopes), ...(api !== undefined && { resource: api.identifier }) },
  );
  return { asked, user, preview: shown(data) };
}

/** In the token of an application itself the subject is no user (RFC 9068 §2.2). */
const OWN_SUBJECT = 'The application itself: it has no user.';

/** The application's own token; the address says `itself` once it is asked for. */
async function ownPreview(context: AdminContext, client: ClientView, open: readonly ApiView[]) {
  const { query } = context;
  const id = client.client_id;
  const granted = open.filter((api) => machineScopesOf(api, id).length > 0);
  const api = granted.find(({ identifier }) => identifier === query.get('resource'));
  const scopes = query.getAll('scope').slice(0, 100);
  const offered = api === undefined ? scopesOf(client) : machineScopesOf(api, id);
  const own = { apis: granted, api, scopes, offered };
  if (!query.has('itself')) return { own };
  const { data } = await context.call(tokenPreview.ofItself, {
    params: { client_id: id },
    query: {
      ...scopeParameter(scopes.filter((name) => offered.includes(name))),
      ...(api !== undefined && { resource: api.identifier }),
    },
  });
  const preview = shown(data);
  const accessToken = preview.accessToken?.map((claim) =>
    claim.name === 'sub' ? { ...claim, meaning: OWN_SUBJECT } : claim,
  );
  return { own: { ...own, preview: { ...preview, accessToken } } };
}

const showClaims = shows('application-claims', async (context) => {
  const { id } = idOf(context);
  const [{ data: client, version }, { data: all }] = await Promise.all([
    context.call(clients.read, { params: { client_id: id } }),
    context.call(apis.list, { query: { limit: MOST_APIS } }),
  ]);
  const isForItself = isMachine(client);
  const open = all.items.filter((api) =>
    isForItself ? machineScopesOf(api, id).length > 0 : isOpenTo(api, id),
  );
  const name = applicationName(client);
  const rows = rowsOf(scopesOf(client));
  return {
    title: 'Scopes and claims',
    here,
    crumbs: [
      { label: 'Applications', href: '/applications' },
      { label: name, href: `/applications/${encodeURIComponent(id)}`, isName: true },
    ],
    client,
    version,
    name,
    rows,
    others: scopesOf(client).filter((scope) => !rows.some((row) => row.name === scope)),
    apis: open,
    ownScopesOf: (api: ApiView) => machineScopesOf(api, id),
    isMinimal: client.minimal_id_tokens === true,
    isMachine: isForItself,
    isOurs: client.origin === 'seed',
    ...(isForItself ? {} : await previewFor(context, id, open)),
    ...(actsForItself(client) ? await ownPreview(context, client, all.items) : {}),
  };
});

async function save(context: AdminContext): Promise<void> {
  const { form } = context;
  const { id } = idOf(context);
  const params = { client_id: id };
  const { data: client } = await context.call(clients.read, { params });
  const ticked = OFFERED.filter((name) => name === 'openid' || isOn(form, `scope.${name}`));
  const kept = scopesOf(client).filter((name) => !OFFERED.some((offered) => offered === name));
  try {
    await context.call(clients.change, {
      params,
      ifVersion: versionOf(form),
      body: { scope: [...ticked, ...kept].join(' '), minimal_id_tokens: isOn(form, 'minimal_id_tokens') },
    });
    context.go(`/applications/${encodeURIComponent(id)}/claims`, 'scopes-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    const rows = rowsOf(ticked);
    const isMinimal = isOn(form, 'minimal_id_tokens');
    await showClaims(context, { rows, isMinimal, errors, isStale, ...(isStale ? {} : { alert }) }, status);
  }
}

export const claimPages: readonly Page[] = [
  get('/applications/:id/claims', (context) => showClaims(context)),
  post('/applications/:id/claims', save),
];
