// Owns the pages of "Try it": what to ask for, and the press that sends a new tab off to sign in as the application.
// The way back is callback.ts, the course in between run.ts.
import { AppError } from '../../errors.ts';
import type { Page, Values, Visit } from '../pages/page.ts';
import { applicationName } from '../resources/clients/page.ts';
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

async function clientOf(visit: Visit): Promise<Values> {
  const params = { client_id: visit.params.id ?? '' };
  return (await visit.call('GET /clients/{client_id}', { params })).data;
}

function show(visit: Visit, client: Values, given: URLSearchParams, model: object = {}, status = 200): void {
  const crumbs = [
    { label: 'Applications', href: '/applications' },
    { label: applicationName(client), href: `/applications/${visit.params.id}` },
  ];
  const own = { title: 'Try it', here, crumbs, client, name: applicationName(client) };
  const choices = choicesOf(client, given);
  const options = { prompts, acrs, locales, obstacle: obstacleOf(client) };
  visit.show('try', { ...own, ...options, choices, ...model }, status);
}

async function start(visit: Visit): Promise<void> {
  // Whoever may only read here may not sign in as somebody's application.
  if (!visit.canChange) throw new AppError('auth.insufficient_scope');
  const client = await clientOf(visit);
  const given = readChoices(visit, client);
  if (obstacleOf(client) !== undefined) return show(visit, client, given, {}, 409);
  const choices = choicesOf(client, given);
  const errors = problemsOf(choices, given);
  if (Object.keys(errors).length > 0) return show(visit, client, given, { errors }, 400);
  return visit.startTrial(String(client.client_id), parametersOf(choices));
}

export const tryPages: readonly Page[] = [
  {
    method: 'GET',
    path: '/applications/:id/try',
    needs: 'admin',
    handle: async (visit) => show(visit, await clientOf(visit), visit.query),
  },
  { method: 'POST', path: '/applications/:id/try', handle: start },
];
