// The reference of the REST API: the rules for all routes, and a page for each resource. It is generated from the
// declarations that validate the requests, and is visible to administrators only, as is the OpenAPI document.
import { AppError } from '../../errors.ts';
import { description } from '../api/openapi.ts';
import { refusalMeanings } from '../api/openapi-responses.ts';
import { type AdminContext, get, type Page } from '../pages/page.ts';
import { describeRoutes } from './reference.ts';

const here = 'settings';
const crumbs = [
  { label: 'Settings', href: '/settings' },
  { label: 'API keys', href: '/api-keys' },
];
const crumb = { label: 'API reference', href: '/api-reference' };

const groupsOf = (context: AdminContext) => describeRoutes(context.routes, context.apiUrl);

function overview(context: AdminContext): void {
  context.show('reference', {
    title: 'API reference',
    here,
    crumbs,
    groups: groupsOf(context),
    apiUrl: context.apiUrl,
    conventions: description.map((text) => text.split('`')),
    refusals: refusalMeanings().map(({ meaning, ...rest }) => ({ ...rest, meaning: meaning.split('`') })),
  });
}

function group(context: AdminContext): void {
  const groups = groupsOf(context);
  const shown = groups.find(({ slug }) => slug === context.params.group);
  if (shown === undefined) throw new AppError('request.not_found');
  context.show('reference-group', {
    title: `API: ${shown.name}`,
    here,
    crumbs: [...crumbs, crumb],
    groups,
    group: shown,
  });
}

export const referencePages: readonly Page[] = [
  get('/api-reference', async (context) => overview(context)),
  get('/api-reference/:group', async (context) => group(context)),
];
