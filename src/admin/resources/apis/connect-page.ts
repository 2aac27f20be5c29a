// What an API's developer pastes to check tokens, and the applications with which an administrator tries it.

import type { ApiView } from '../../../apis/index.ts';
import type { ClientView } from '../../../clients/index.ts';
import { AppError } from '../../../errors.ts';
import { curlOf, quote } from '../../pages/curl.ts';
import { type AdminContext, get, idOf, type Page } from '../../pages/page.ts';
import { clientAuthenticationOf } from '../clients/authentication.ts';
import { applicationChoices, choiceOf } from '../clients/choice.ts';
import { clients } from '../clients/resource.ts';
import { apisCrumb, here } from './list-page.ts';
import { apis } from './resource.ts';

const EXAMPLE = 'orders:read';
/** Of the applications that an API names, so many are offered. */
const MOST = 50;

async function read(context: AdminContext) {
  const { data: api } = await context.call(apis.read, { params: idOf(context) });
  return { api, here, crumbs: [apisCrumb, { label: api.name, href: `/apis/${api.id}`, isName: true }] };
}

async function showConnect(context: AdminContext): Promise<void> {
  const own = await read(context);
  const { scopes, access_token_format: format } = own.api;
  const scope = scopes[0]?.name ?? EXAMPLE;
  context.show('api-connect', { ...own, title: 'Check tokens', scope, isOpaque: format === 'opaque' });
}

/** The application, unless it was deleted. */
async function applicationOf(context: AdminContext, id: string): Promise<ClientView | undefined> {
  try {
    return (await context.call(clients.read, { params: { client_id: id } })).data;
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return undefined;
    throw error;
  }
}

/** Those that the API names, however many others there are. */
async function named(context: AdminContext, ids: readonly string[]): Promise<ClientView[]> {
  const found = await Promise.all(ids.slice(0, MOST).map((id) => applicationOf(context, id)));
  return found.flatMap((client) => client ?? []);
}

/** Those through which users may get its tokens; whether each really does is what trying shows. */
async function signInChoices(context: AdminContext, { clients: open }: ApiView) {
  const { items, isWhole } =
    open === 'all'
      ? await applicationChoices(context)
      : { items: (await named(context, open)).map(choiceOf), isWhole: open.length <= MOST };
  const applications = items.filter(
    ({ isRegistered, isSignIn }) => isSignIn && !(open === 'all' && isRegistered),
  );
  return { applications, isWhole };
}

async function showTry(context: AdminContext): Promise<void> {
  const own = await read(context);
  const granted = await named(context, Object.keys(own.api.machine_grants));
  const machines = granted.map((client) => ({
    label: choiceOf(client).label,
    curl: (issuer: string): string =>
      curlOf(
        `${issuer}/token`,
        ...clientAuthenticationOf(client).options,
        ...(own.api.require_dpop ? ['-H "DPoP: $DPOP_PROOF"'] : []),
        '-d grant_type=client_credentials',
        `--data-urlencode ${quote(`resource=${own.api.identifier}`)}`,
      ),
  }));
  const choices = await signInChoices(context, own.api);
  context.show('api-try', { ...own, title: 'Try it', ...choices, machines });
}

export const apiConnectPages: readonly Page[] = [
  get('/apis/:id/connect', showConnect),
  get('/apis/:id/try', showTry, { needs: 'admin' }),
];
