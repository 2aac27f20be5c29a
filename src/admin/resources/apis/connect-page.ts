// What an API's developer pastes to check tokens, and the applications with which an administrator tries it.
import { curlOf, quote } from '../../pages/curl.ts';
import { type AdminContext, idOf, type Page } from '../../pages/page.ts';
import { applicationChoices } from '../clients/choice.ts';
import { apisCrumb, here } from './list-page.ts';
import { apis } from './resource.ts';

const EXAMPLE = 'orders:read';

async function read(context: AdminContext) {
  const { data: api } = await context.call(apis.read, { params: idOf(context) });
  return { api, here, crumbs: [apisCrumb, { label: api.name, href: `/apis/${api.id}` }] };
}

async function showConnect(context: AdminContext): Promise<void> {
  const own = await read(context);
  const { scopes, access_token_format: format } = own.api;
  const scope = scopes[0]?.name ?? EXAMPLE;
  context.show('api-connect', { ...own, title: 'Check tokens', scope, isOpaque: format === 'opaque' });
}

/** Those through which users may get its tokens; whether each really does is what trying shows. */
async function showTry(context: AdminContext): Promise<void> {
  const own = await read(context);
  const { clients, machine_grants: grants } = own.api;
  const { items, isWhole } = await applicationChoices(context);
  const applications = items.filter(
    ({ id, isRegistered, isSignIn }) =>
      isSignIn && (clients === 'all' ? !isRegistered : clients.includes(id)),
  );
  const machines = items
    .filter(({ id }) => Object.hasOwn(grants, id))
    .map(({ id, label }) => ({
      label,
      curl: (issuer: string): string =>
        curlOf(
          `${issuer}/token`,
          `-u ${quote(`${encodeURIComponent(id)}:`)}"$CLIENT_SECRET"`,
          '-d grant_type=client_credentials',
          `--data-urlencode ${quote(`resource=${own.api.identifier}`)}`,
        ),
    }));
  context.show('api-try', { ...own, title: 'Try it', applications, machines, isWhole });
}

export const apiConnectPages: readonly Page[] = [
  { method: 'GET', path: '/apis/:id/connect', handle: showConnect },
  { method: 'GET', path: '/apis/:id/try', needs: 'admin', handle: showTry },
];
