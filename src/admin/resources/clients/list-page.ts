// The list of applications, and the form that registers one: by its kind, followed by the details that a developer needs
// next.

import type { PublicMetadata } from '../../../clients/index.ts';
import { isMembers } from '../../../json.ts';
import { isOn, linesOf, refusalOf, textOf, typedIn } from '../../pages/field-values.ts';
import { drawnList } from '../../pages/list-page.ts';
import { type AdminContext, idOf, type Page, type Values } from '../../pages/page.ts';
import { type ApplicationKind, applicationDefaults } from './application-defaults.ts';
import { filledByLink, type WayBack, wayBack } from './registration-link.ts';
import { clients } from './resource.ts';

const here = 'applications';
const crumb = { label: 'Applications', href: '/applications' };

const kinds: readonly { kind: ApplicationKind; label: string; about: string }[] = [
  { kind: 'web', label: 'Web app with a server', about: 'Keeps a secret: Express, Django, Rails, Spring' },
  { kind: 'spa', label: 'Single-page app', about: 'Runs in the browser: React, Vue, Angular' },
  { kind: 'native', label: 'Native app', about: 'Phone, desktop or command line' },
  { kind: 'machine', label: 'Machine to machine', about: 'A service without users' },
];

const isKind = (value: string | undefined): value is ApplicationKind =>
  kinds.some(({ kind }) => kind === value);

export function kindOf(client: PublicMetadata): ApplicationKind {
  if (client.application_type === 'native') return 'native';
  const grants: readonly unknown[] = Array.isArray(client.grant_types) ? client.grant_types : [];
  const isForPeople = grants.some(
    (grant) => grant === 'authorization_code' || String(grant).includes('device'),
  );
  if (!isForPeople) return 'machine';
  return client.token_endpoint_auth_method === 'none' ? 'spa' : 'web';
}

export const kindLabel = (client: PublicMetadata): string =>
  kinds.find(({ kind }) => kind === kindOf(client))?.label ?? '';

/** The default return address after sign-out; without one, the application could not send users back. */
const startPages = (redirectUris: readonly string[]): string[] => {
  const web = redirectUris
    .map((uri) => URL.parse(uri))
    .filter((url) => /^https?:$/.test(url?.protocol ?? ''));
  return [...new Set(web.map((url) => `${url?.origin}/`))];
};

const list = drawnList({
  path: '/applications',
  title: 'Applications',
  here,
  template: 'applications',
  list: clients.list,
  chips: [
    { label: 'With a secret', set: { client_type: 'confidential' } },
    { label: 'Public', set: { client_type: 'public' } },
    { label: 'Agents', set: { is_quarantined: 'true' } },
    { label: 'Deactivated', set: { is_active: 'false' } },
  ],
  more: async () => ({ kindLabel }),
});

const showNew = (context: AdminContext, model: object = {}, status = 200): void =>
  context.show(
    'application-new',
    {
      title: 'Register an application',
      here,
      crumbs: [crumb],
      kinds,
      values: { require_pkce: 'on' },
      ...model,
    },
    status,
  );

/** By a link the form is filled in already; it is for the administrator to read and to send. */
async function showForm(context: AdminContext): Promise<void> {
  const filled = filledByLink(context.query);
  if (filled === undefined) return showNew(context);
  const way = wayBack(textOf(filled, 'return_to'), linesOf(textOf(filled, 'redirect_uris')));
  showNew(context, { values: { require_pkce: 'on', ...filled }, isByLink: true, way });
}

async function create(context: AdminContext): Promise<void> {
  const { form } = context;
  const values = typedIn(form);
  const type = form.get('type');
  const redirectUris = linesOf(form.get('redirect_uris'));
  // What a link filled in is said to be by a link for as long as it is shown, also when the first attempt is refused.
  const way = wayBack(form.get('return_to'), redirectUris);
  const byLink = isOn(form, 'by_link') ? { isByLink: true, way } : {};
  if (!isKind(type))
    return showNew(context, { values, ...byLink, errors: { type: 'Select an application type.' } }, 400);
  const named = linesOf(form.get('post_logout_redirect_uris'));
  const postLogoutUris = named.length > 0 || type === 'machine' ? named : startPages(redirectUris);
  try {
    const { data } = await context.call(clients.create, {
      body: {
        ...applicationDefaults(type),
        client_name: (form.get('name') ?? '').trim(),
        ...(redirectUris.length > 0 ? { redirect_uris: redirectUris } : {}),
        ...(postLogoutUris.length > 0 ? { post_logout_redirect_uris: postLogoutUris } : {}),
        skip_consent: isOn(form, 'first_party'),
        // Of the other kinds, sign-in applications always use it, and machines never.
        ...(type === 'web' && isOn(form, 'require_pkce') && { require_pkce: true }),
      },
    });
    const back = wayBack(form.get('return_to'), redirectUris, data.client_id);
    await goToSecret(context, data, 'is ready', back);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    const { client_name: nameProblem, ...others } = errors;
    const { post_logout_redirect_uris: _, ...typedFields } = others;
    // An error in a value derived from the redirect URIs is reported at the redirect URIs only.
    const fields = named.length > 0 ? others : typedFields;
    showNew(
      context,
      { values, ...byLink, alert, errors: nameProblem ? { name: nameProblem, ...fields } : fields },
      status,
    );
  }
}

/**
 * @param verb shown after the application's name
 * @param way back to the program whose link filled in the form
 */
export async function goToSecret(
  context: AdminContext,
  client: Values,
  verb: string,
  way?: WayBack,
): Promise<void> {
  // A record always fits; if it did not, showing the secret at once would be the only way not to lose it.
  const isKept = await context.goOnce(
    `/applications/${encodeURIComponent(textOf(client, 'client_id'))}/secret`,
    {
      client,
      verb,
      way,
    },
  );
  if (!isKept) showSecret(context, client, verb, way);
}

async function showSecretOnce(context: AdminContext): Promise<void> {
  const { client, verb, way } = (await context.once()) ?? {};
  // The whole page is kept by us, sealed for this administrator.
  if (isMembers(client)) return showSecret(context, client, String(verb), isMembers(way) ? way : undefined);
  context.go(`/applications/${encodeURIComponent(idOf(context).id)}`, 'secret-shown');
}

/** The only page that shows a secret. */
function showSecret(context: AdminContext, client: Values, verb: string, way?: object): void {
  const [redirectUri] = Array.isArray(client.redirect_uris) ? client.redirect_uris.map(String) : [];
  context.show('application-secret', {
    title: textOf(client, 'client_name'),
    here,
    crumbs: [crumb],
    verb,
    way,
    created: {
      clientId: textOf(client, 'client_id'),
      clientSecret: textOf(client, 'client_secret') || undefined,
      name: textOf(client, 'client_name'),
      type: kindOf(client),
      redirectUri,
    },
  });
}

export const applicationListPages: readonly Page[] = [
  list,
  { method: 'GET', path: '/applications/new', needs: 'admin', handle: showForm },
  { method: 'POST', path: '/applications', formOn: { path: '/applications/new' }, handle: create },
  { method: 'GET', path: '/applications/:id/secret', needs: 'admin', handle: showSecretOnce },
];
