// Owns the page of initial access tokens (RFC 7591 §3): with one, somebody else may register an application. A token is
// shown once, in the answer that made it.
import { itemsOf, numberOrText, refusalOf, typedIn } from '../../pages/field-values.ts';
import { listLinks } from '../../pages/list-links.ts';
import type { Page, Visit } from '../../pages/page.ts';

const here = 'applications';
const HOUR_SECONDS = 3600;

async function showTokens(visit: Visit, model: object = {}, status = 200): Promise<void> {
  const path = visit.ctx.path.replace(/\/[^/]*\/withdraw$/, '');
  const { data } = await visit.call('GET /initial-access-tokens', { query: visit.query });
  const list = listLinks({ path, query: visit.query, page: data, defaultSort: 'created_at' });
  const crumbs = [{ label: 'Applications', href: '/applications' }];
  const own = { title: 'Registration tokens', here, crumbs, list, tokens: itemsOf(data) };
  visit.show('registration-tokens', { ...own, values: {}, made: undefined, ...model }, status);
}

async function create(visit: Visit): Promise<void> {
  const { form } = visit;
  const hours = numberOrText(form.get('hours') ?? '');
  try {
    const { data } = await visit.call('POST /initial-access-tokens', {
      body: {
        label: (form.get('label') ?? '').trim(),
        uses: numberOrText(form.get('uses') ?? ''),
        expires_in_seconds: typeof hours === 'number' ? hours * HOUR_SECONDS : hours,
      },
    });
    if (!(await visit.goOnce('/registration-tokens', data))) await showTokens(visit, { made: data });
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    await showTokens(visit, { values: typedIn(form), alert, errors }, status);
  }
}

export const registrationTokenPages: readonly Page[] = [
  {
    method: 'GET',
    path: '/registration-tokens',
    async handle(visit) {
      await showTokens(visit, { made: await visit.once() });
    },
  },
  { method: 'POST', path: '/registration-tokens', handle: create },
  {
    method: 'POST',
    path: '/registration-tokens/:id/withdraw',
    async handle(visit) {
      await visit.call('DELETE /initial-access-tokens/{id}', { params: { id: visit.params.id ?? '' } });
      visit.go('/registration-tokens', 'token-withdrawn');
    },
  },
];
