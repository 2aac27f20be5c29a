// The page of initial access tokens. A token is shown once, in the answer that created it.
import { isOn, numberOrText } from '../../pages/field-values.ts';
import { orShown, shows } from '../../pages/form-pages.ts';
import { listLinks } from '../../pages/list-links.ts';
import { type AdminContext, get, idOf, type Page, post } from '../../pages/page.ts';
import { hasLegacyProfiles } from '../settings/legacy.ts';
import { initialAccessTokens } from './resource.ts';

const here = 'applications';
const HOUR_SECONDS = 3600;

const showTokens = shows('registration-tokens', async (context) => {
  const path = context.ctx.path.replace(/\/[^/]*\/withdraw$/, '');
  const { data } = await context.call(initialAccessTokens.list, { query: context.query });
  const list = listLinks(context, initialAccessTokens.list, data, { path });
  const crumbs = [{ label: 'Applications', href: '/applications' }];
  const own = { title: 'Registration tokens', here, crumbs, list, tokens: data.items };
  return { ...own, values: {}, made: undefined, hasLegacy: await hasLegacyProfiles(context) };
});

async function create(context: AdminContext): Promise<void> {
  const { form } = context;
  const hours = numberOrText(form.get('hours') ?? '');
  const { data } = await context.call(initialAccessTokens.create, {
    body: {
      label: (form.get('label') ?? '').trim(),
      uses: numberOrText(form.get('uses') ?? ''),
      expires_in_seconds: typeof hours === 'number' ? hours * HOUR_SECONDS : hours,
      ...(isOn(form, 'profile') && { profile: 'legacy' }),
    },
  });
  if (!(await context.goOnce('/registration-tokens', data))) await showTokens(context, { made: data });
}

export const registrationTokenPages: readonly Page[] = [
  get('/registration-tokens', async (context) => {
    await showTokens(context, { made: await context.once() });
  }),
  post('/registration-tokens', orShown(create, showTokens)),
  post('/registration-tokens/:id/withdraw', async (context) => {
    await context.call(initialAccessTokens.remove, { params: idOf(context) });
    context.go('/registration-tokens', 'token-withdrawn');
  }),
];
