// The pages of "Try it": the options, and the button that starts a sign-in as the application in a new tab.
// The callback is callback.ts, the steps in between are run.ts.

import type { ApiView } from '../../apis/index.ts';
import type { ClientView } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import { type AdminContext, get, idOf, type Page, post } from '../pages/page.ts';
import { apis } from '../resources/apis/resource.ts';
import { applicationName } from '../resources/clients/page.ts';
import { clients } from '../resources/clients/resource.ts';
import {
  acrs,
  choicesOf,
  locales,
  obstacleOf,
  parametersOf,
  problemsOf,
  prompts,
  readChoices,
} from './request.ts';

const here = 'applications';

async function clientOf(context: AdminContext): Promise<ClientView> {
  const params = { client_id: idOf(context).id };
  return (await context.call(clients.read, { params })).data;
}

/** The API that the page's address or form names. @throws AppError api.not_found */
async function apiOf({ call, query, form }: AdminContext): Promise<ApiView | undefined> {
  const identifier = form.get('resource') ?? query.get('resource') ?? '';
  if (identifier === '') return undefined;
  const { data } = await call(apis.list, { query: { identifier } });
  const [api] = data.items;
  if (api === undefined) throw new AppError('api.not_found');
  return api;
}

interface Asked {
  readonly client: ClientView;
  readonly api: ApiView | undefined;
  readonly given: URLSearchParams;
}

function show(context: AdminContext, { client, api, given }: Asked, model: object = {}, status = 200): void {
  const crumbs = [
    { label: 'Applications', href: '/applications' },
    {
      label: applicationName(client),
      href: `/applications/${encodeURIComponent(context.params.id ?? '')}`,
      isName: true,
    },
  ];
  const own = { title: 'Try it', here, crumbs, client, name: applicationName(client) };
  const choices = choicesOf(client, given, api);
  const options = { prompts, acrs, locales, obstacle: obstacleOf(client), api };
  context.show('try', { ...own, ...options, choices, ...model }, status);
}

async function start(context: AdminContext): Promise<void> {
  // Auditors may not sign in as an application.
  if (!context.canChange) throw new AppError('auth.insufficient_scope');
  const [client, api] = [await clientOf(context), await apiOf(context)];
  const asked = { client, api, given: readChoices(context, client, api) };
  if (obstacleOf(client) !== undefined) return show(context, asked, {}, 409);
  const choices = choicesOf(client, asked.given, api);
  const errors = problemsOf(choices, asked.given);
  if (Object.keys(errors).length > 0) return show(context, asked, { errors }, 400);
  return context.startTestSignIn(client.client_id, parametersOf(choices));
}

export const tryPages: readonly Page[] = [
  get(
    '/applications/:id/try',
    async (context) => {
      const [client, api] = [await clientOf(context), await apiOf(context)];
      show(context, { client, api, given: context.query });
    },
    { needs: 'admin' },
  ),
  post('/applications/:id/try', start),
];
