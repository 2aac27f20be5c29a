// The pages of "Try it": the options, and the button that starts a sign-in as the application in a new tab.
// The callback is callback.ts, the steps in between are run.ts.
import type { ClientView } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import { type AdminContext, idOf, type Page } from '../pages/page.ts';
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

function show(
  context: AdminContext,
  client: ClientView,
  given: URLSearchParams,
  model: object = {},
  status = 200,
): void {
  const crumbs = [
    { label: 'Applications', href: '/applications' },
    { label: applicationName(client), href: `/applications/${encodeURIComponent(context.params.id ?? '')}` },
  ];
  const own = { title: 'Try it', here, crumbs, client, name: applicationName(client) };
  const choices = choicesOf(client, given);
  const options = { prompts, acrs, locales, obstacle: obstacleOf(client) };
  context.show('try', { ...own, ...options, choices, ...model }, status);
}

async function start(context: AdminContext): Promise<void> {
  // Auditors may not sign in as an application.
  if (!context.canChange) throw new AppError('auth.insufficient_scope');
  const client = await clientOf(context);
  const given = readChoices(context, client);
  if (obstacleOf(client) !== undefined) return show(context, client, given, {}, 409);
  const choices = choicesOf(client, given);
  const errors = problemsOf(choices, given);
  if (Object.keys(errors).length > 0) return show(context, client, given, { errors }, 400);
  return context.startTestSignIn(client.client_id, parametersOf(choices));
}

export const tryPages: readonly Page[] = [
  {
    method: 'GET',
    path: '/applications/:id/try',
    needs: 'admin',
    handle: async (context) => show(context, await clientOf(context), context.query),
  },
  { method: 'POST', path: '/applications/:id/try', handle: start },
];
