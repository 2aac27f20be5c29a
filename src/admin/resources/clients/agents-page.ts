// Agents (docs/agents.md): what the setting opens, its switch, the APIs that are open to them, and those that came in by it.
import type { ClientView } from '../../../clients/index.ts';
import { AppError } from '../../../errors.ts';
import { listLinks } from '../../pages/list-links.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { apis } from '../apis/resource.ts';
import { settings } from '../settings/resource.ts';
import { tokens } from '../tokens/resource.ts';
import { applicationName } from './page.ts';
import { clients } from './resource.ts';

/** How many of an agent's newest refresh tokens are read for the APIs that they are for. */
const LOOKED_AT = '100';
const PER_PAGE = '20';

async function rowOf({ call }: AdminContext, client: ClientView) {
  const { data } = await call(tokens.list, { query: { client_id: client.client_id, limit: LOOKED_AT } });
  const resources = data.items.map(({ resource }) => resource).filter((one) => one !== null);
  return {
    ...client,
    name: applicationName(client),
    apis: [...new Set(resources)],
    tokens: data.total,
  };
}

async function isOn({ call }: AdminContext): Promise<boolean> {
  const { items } = (await call(settings.read, {})).data;
  return items.some(({ key, value }) => key === 'agents' && value === true);
}

/** Those that agents may ask for; an installation has few APIs. */
async function openApis({ call }: AdminContext) {
  const { data } = await call(apis.list, { query: { limit: '1000', sort: 'name' } });
  return data.items.filter(({ is_open_to_agents: isOpen }) => isOpen);
}

async function list(context: AdminContext): Promise<void> {
  const query = new URLSearchParams(context.query);
  query.set('is_quarantined', 'true');
  if (!query.has('limit')) query.set('limit', PER_PAGE);
  const [{ data }, isAllowed, open] = await Promise.all([
    context.call(clients.list, { query }),
    isOn(context),
    openApis(context),
  ]);
  context.show('agents', {
    title: 'Agents',
    here: 'applications',
    crumbs: [{ label: 'Applications', href: '/applications' }],
    path: '/agents',
    list: listLinks(context, clients.list, data, { chips: [] }),
    rows: await Promise.all(data.items.map((client) => rowOf(context, client))),
    isAllowed,
    open,
  });
}

async function turn(context: AdminContext): Promise<void> {
  if (!context.canChange) throw new AppError('auth.insufficient_scope');
  await context.call(settings.change, { body: { agents: context.form.get('agents') === 'on' } });
  context.go('/agents', 'settings-saved');
}

export const agentPages: readonly Page[] = [get('/agents', list), post('/agents', turn)];
