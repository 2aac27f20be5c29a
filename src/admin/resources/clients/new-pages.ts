// Adding an application in three steps: its kind (or what it is built with), its name and addresses, and what to do next. Each
// step is a page with an address, so that it works without scripts, and back and forward do.
import { AppError } from '../../../errors.ts';
import {
  type ApplicationTemplate,
  type Guide,
  postLogoutUrisOf,
  redirectUrisOf,
} from '../../guides/guide.ts';
import { guideOf, originOf, sections } from '../../guides/list.ts';
import { isOn, linesOf, refusalOf, textOf, typedIn } from '../../pages/field-values.ts';
import { type AdminContext, get, type Page, post, type Values } from '../../pages/page.ts';
import {
  applicationDefaults,
  hasPkceChoice,
  hasRedirect,
  isTemplate,
  templates,
} from './application-templates.ts';
import { filledByLink, wayBack } from './registration-link.ts';
import { clients } from './resource.ts';
import { goToSecret } from './secret-page.ts';
import { verdictsOn } from './uri-verdicts.ts';

const here = 'applications';
const crumb = { label: 'Applications', href: '/applications' };
const TITLE = 'Add application';

interface Start {
  readonly id: string;
  readonly kind: ApplicationTemplate;
  readonly guide: Guide | undefined;
}

/** @param id of a kind or a guide @throws AppError request.not_found */
function startOf(id: string): Start {
  if (isTemplate(id)) return { id, kind: id, guide: undefined };
  const guide = guideOf(id);
  if (guide === undefined) throw new AppError('request.not_found');
  return { id, kind: guide.kind, guide };
}

async function showKinds(context: AdminContext): Promise<void> {
  // A link fills in the next step, for the administrator to read and to send.
  if (filledByLink(context.query) !== undefined) {
    const type = context.query.get('type') ?? '';
    return context.go(`/applications/new/${isTemplate(type) ? type : 'web'}?${context.query}`);
  }
  context.show('application-kinds', { title: TITLE, here, crumbs: [crumb], kinds: templates, sections });
}

/** The address under which a product is opened, without a slash at its end; undefined for what is none. */
function baseOf(address: string): string | undefined {
  const url = URL.parse(address.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The redirect URIs as typed, else those that follow from the product's address. */
function urisOf(values: Values, guide: Guide | undefined): readonly string[] {
  const typed = linesOf(textOf(values, 'redirect_uris'));
  const base = baseOf(textOf(values, 'address'));
  return typed.length === 0 && guide !== undefined && base !== undefined
    ? redirectUrisOf(guide, base)
    : typed;
}

/** The default return address after sign-out; without one, the application could not send users back. */
const startPages = (redirectUris: readonly string[]): string[] => {
  const web = redirectUris
    .map((uri) => URL.parse(uri))
    .filter((url) => /^https?:$/.test(url?.protocol ?? ''));
  return [...new Set(web.map((url) => `${url?.origin}/`))];
};

/** Where users return after sign-out if the form names nothing. */
function afterLogoutOf(
  guide: Guide | undefined,
  base: string | undefined,
  redirectUris: readonly string[],
): readonly string[] {
  if (guide === undefined) return startPages(redirectUris);
  const origin = base ?? originOf(guide, redirectUris);
  // The lines of the guide ask for exactly these: some libraries leave out the slash at the end.
  const asked = origin === undefined ? undefined : postLogoutUrisOf(guide, origin);
  if (base !== undefined) return asked ?? startPages(redirectUris);
  return [...new Set([...startPages(redirectUris), ...(asked ?? [])])];
}

const isProduct = ({ kind, guide }: Start): boolean => kind === 'product' && guide !== undefined;

/** What the form has at first. */
function initial(start: Start): Values {
  const { guide } = start;
  return {
    name: guide?.kind === 'product' ? guide.label : '',
    require_pkce: 'on',
    ...(guide && !isProduct(start) && { redirect_uris: redirectUrisOf(guide).join('\n') }),
  };
}

interface Shown {
  readonly values: Values;
  readonly isByLink?: boolean;
  readonly alert?: string;
  readonly errors?: Readonly<Record<string, string>>;
}

async function showDetails(context: AdminContext, start: Start, shown: Shown, status = 200): Promise<void> {
  const { kind, guide } = start;
  const { values } = shown;
  const metadata = { ...applicationDefaults(kind), ...guide?.metadata };
  const uris = urisOf(values, guide);
  context.show(
    'application-new',
    {
      title: TITLE,
      here,
      crumbs: [crumb, { label: TITLE, href: '/applications/new' }],
      start,
      kindOf: templates.find((one) => one.kind === kind),
      isProduct: isProduct(start),
      hasRedirect: hasRedirect(kind),
      hasPkceChoice: hasPkceChoice(kind) && metadata.token_endpoint_auth_method !== 'none',
      applicationType: metadata.application_type,
      needed: Object.entries(guide?.metadata ?? {}).map(([name, value]) => ({ name, value: String(value) })),
      examples: guide ? redirectUrisOf(guide) : [],
      verdicts: await verdictsOn(context, uris, metadata.application_type),
      way: wayBack(textOf(values, 'return_to'), uris),
      ...shown,
    },
    status,
  );
}

async function showForm(context: AdminContext): Promise<void> {
  const start = startOf(context.params.kind ?? '');
  const filled = filledByLink(context.query);
  const values = { ...initial(start), ...filled };
  await showDetails(context, start, { values, isByLink: filled !== undefined });
}

function bodyOf(context: AdminContext, { kind, guide }: Start, uris: readonly string[]): Values {
  const { form } = context;
  const base = baseOf(form.get('address') ?? '');
  const named = linesOf(form.get('post_logout_redirect_uris'));
  const after = named.length > 0 ? named : hasRedirect(kind) ? afterLogoutOf(guide, base, uris) : [];
  const metadata = { ...applicationDefaults(kind), ...guide?.metadata };
  const isPublic = metadata.token_endpoint_auth_method === 'none';
  return {
    ...metadata,
    client_name: (form.get('name') ?? '').trim(),
    ...(uris.length > 0 ? { redirect_uris: uris } : {}),
    ...(after.length > 0 ? { post_logout_redirect_uris: after } : {}),
    skip_consent: isOn(form, 'first_party'),
    // Of the other kinds, sign-in applications always use it, and machines never.
    ...(hasPkceChoice(kind) && !isPublic && isOn(form, 'require_pkce') && { require_pkce: true }),
  };
}

/** The route's members by the form's fields; what follows from the redirect URIs is reported there alone. */
function namedHere(
  errors: Readonly<Record<string, string>>,
  { isDerived, isByAddress }: { readonly isDerived: boolean; readonly isByAddress: boolean },
): Record<string, string> {
  const { client_name: name, redirect_uris: uris, post_logout_redirect_uris: after, ...others } = errors;
  return {
    ...(name !== undefined && { name }),
    ...(uris !== undefined && { [isByAddress ? 'address' : 'redirect_uris']: uris }),
    ...(after !== undefined && !isDerived && { post_logout_redirect_uris: after }),
    ...others,
  };
}

async function create(context: AdminContext): Promise<void> {
  const { form } = context;
  const start = startOf(context.params.kind ?? '');
  const values = typedIn(form);
  const uris = urisOf(values, start.guide);
  // What a link filled in is said to be by a link for as long as it is shown, also when the first attempt is refused.
  const shown = { values, isByLink: isOn(form, 'by_link') };
  const isByAddress = isProduct(start) && linesOf(form.get('redirect_uris')).length === 0;
  if (isByAddress && uris.length === 0) {
    const errors = {
      address: 'Enter the address under which users open it, such as https://app.example.com.',
    };
    return showDetails(context, start, { ...shown, errors }, 400);
  }
  try {
    const { data } = await context.call(clients.create, { body: bodyOf(context, start, uris) });
    const way = wayBack(form.get('return_to'), uris, data.client_id);
    // Services and devices have a guide of their own, named as their kind.
    const chosen = start.guide?.id ?? start.kind;
    await goToSecret(context, data, { verb: 'is ready', way, guide: chosen, isNew: true });
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    const isDerived = linesOf(form.get('post_logout_redirect_uris')).length === 0;
    await showDetails(
      context,
      start,
      { ...shown, alert, errors: namedHere(errors, { isDerived, isByAddress }) },
      status,
    );
  }
}

export const newApplicationPages: readonly Page[] = [
  get('/applications/new', showKinds, { needs: 'admin' }),
  get('/applications/new/:kind', showForm, { needs: 'admin' }),
  post('/applications/new/:kind', create),
];
