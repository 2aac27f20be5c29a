// The page of one application: the details its developer needs, its settings, and code snippets for its framework.
import { type ClientView, whyPkceAlways } from '../../../clients/index.ts';
import { apiCall } from '../../pages/curl.ts';
import { linesOf, refusalOf, textOf, typedIn, versionOf } from '../../pages/field-values.ts';
import { shows } from '../../pages/form-pages.ts';
import { type AdminContext, get, idOf, type Page, post, type Values } from '../../pages/page.ts';
import { apiChoices } from '../apis/choice.ts';
import { auditLog } from '../audit/resource.ts';
import { groupChoices } from '../groups/choice.ts';
import { accountAccessOf, accountChoices, mayOpenAccounts, scopeBody } from './account-access-form.ts';
import { readAskedUris } from './asked-uris.ts';
import { readCalls } from './called-addresses-model.ts';
import { bodyOf, bounds, boxes, entriesOf, factsOf, labels, partsOf, valuesOf } from './form.ts';
import { hasLegacyPart, withLegacyBody } from './legacy-form.ts';
import { clients } from './resource.ts';
import { hasSecret, kindLabel, templateOf } from './template-of.ts';
import { verdictsOn } from './uri-verdicts.ts';

const here = 'applications';

const whyPkceOf = (client: Values): string | undefined =>
  whyPkceAlways({ metadata: client, origin: client.origin, profile: client.profile });

export const applicationName = (client: Values): string =>
  textOf(client, 'client_name') || textOf(client, 'client_id');

/** Who may sign in: null in the API means all users. */
const accessOf = ({ allowed_groups: groups }: ClientView) => ({
  isForEverybody: groups === null,
  chosen: groups ?? [],
});

const UNGUARDED_DAYS = 7;

/** @returns when somebody last signed in with neither PKCE nor a nonce, if that was lately */
async function lastUnguarded(context: AdminContext, clientId: string): Promise<string | undefined> {
  const from = new Date(context.now - UNGUARDED_DAYS * 86_400_000).toISOString();
  const query = { event: 'token.unguarded', client_id: clientId, at_from: from, limit: '1' };
  return (await context.call(auditLog.list, { query })).data.items[0]?.at;
}

export const showApplication = shows('application', async (context) => {
  const params = { client_id: idOf(context).id };
  const { data: client, version } = await context.call(clients.read, { params });
  const hasUris = client.origin !== 'seed' && templateOf(client) !== 'machine';
  const [choices, apis, unguardedAt, calls, refusals, hasLegacy, asked] = await Promise.all([
    groupChoices(context),
    apiChoices(context),
    client.require_pkce ? undefined : lastUnguarded(context, params.client_id),
    readCalls(context, client),
    context.call(clients.refusals, { params }),
    hasLegacyPart(context, client),
    hasUris ? readAskedUris(context, client) : undefined,
  ]);
  const entries = entriesOf(client, hasLegacy);
  const whyPkce = whyPkceOf(client);
  // Where PKCE is always required there is nothing to choose.
  const chosen = entries.filter(([name]) => name !== 'require_pkce' || whyPkce === undefined);
  const stored = { ...valuesOf(client, chosen), ...accountAccessOf(client) };
  const isFilled = asked?.isFilled === true;
  const own = {
    access: accessOf(client),
    stored: accessOf(client),
    groupChoices: choices,
    apis,
    groupLabelOf: (name: string) => choices.items.find((choice) => choice.name === name)?.label ?? name,
    title: applicationName(client),
    isTitleName: true,
    here,
    crumbs: [{ label: 'Applications', href: '/applications' }],
    client,
    version,
    kind: templateOf(client),
    whyPkce,
    unguardedAt,
    calls,
    refusals: refusals.data.items,
    kindLabel: kindLabel(client),
    hasSecret: hasSecret(client),
    isOurs: client.origin === 'seed',
    accountChoices: mayOpenAccounts(client) ? accountChoices : [],
    bounds,
    labels,
    parts: partsOf(chosen),
    facts: factsOf(client, entries),
    asked,
    verdicts:
      isFilled && asked.field === 'redirect_uris'
        ? await verdictsOn(context, asked.lines, client.application_type)
        : [],
    values: { ...stored, ...(isFilled && { [asked.field]: asked.lines.join('\n') }) },
    call: apiCall(
      'PATCH',
      `/clients/${params.client_id}`,
      given((name) => String(stored[name] ?? '')),
      version,
    ),
    isStale: false,
  };
  return own;
});

/** Converts the form's values to the API's. */
const given = (textIn: (name: string) => string | undefined): Values =>
  withLegacyBody({ ...bodyOf(textIn), ...scopeBody(textIn) });

async function save(context: AdminContext): Promise<void> {
  const { form } = context;
  const params = { client_id: idOf(context).id };
  try {
    await context.call(clients.change, {
      params,
      ifVersion: versionOf(form),
      body: given((name) => form.get(name)),
    });
    context.go(`/applications/${encodeURIComponent(params.client_id)}`, 'application-saved');
  } catch (error) {
    const { status, alert, errors, isStale } = refusalOf(error);
    const values = { ...Object.fromEntries(boxes.map((name) => [name, ''])), ...typedIn(form) };
    const type = form.get('application_type');
    const verdicts = errors.redirect_uris
      ? await verdictsOn(context, linesOf(form.get('redirect_uris')), type)
      : [];
    const shown = { values, errors, isStale, verdicts, ...(isStale ? {} : { alert }) };
    await showApplication(context, shown, status);
  }
}

export const applicationPages: readonly Page[] = [
  get('/applications/:id', (context) => showApplication(context)),
  post('/applications/:id', save),
];
