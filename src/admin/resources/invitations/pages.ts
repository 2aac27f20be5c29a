// Owns the page of invitations: who was asked to make an account, asking somebody, sending it again, and taking it back.
// An invitation's link is shown once, in the answer that made it.
import {
  isOn,
  itemsOf,
  numberOrText,
  refusalOf,
  textOf,
  textOrNull,
  typedIn,
} from '../../pages/field-values.ts';
import { listLinks } from '../../pages/list-links.ts';
import { createNames } from '../../pages/names.ts';
import type { Page, Values, Visit } from '../../pages/page.ts';

const DAY_SECONDS = 86_400;
const MAX_CHOICES = 200;

async function settingsOf(visit: Visit) {
  const settings = itemsOf((await visit.call('GET /settings')).data);
  const of = (key: string): Values => settings.find((setting) => setting.key === key) ?? {};
  return {
    defaultDays: Math.max(1, Math.round(Number(of('invitation_link_seconds').value) / DAY_SECONDS)),
    // A secret's value is not told; that somebody set it is.
    hasMail: of('smtp_url').updated_at !== null,
  };
}

/** Those that people sign in to. */
async function applicationsToChoose(visit: Visit) {
  const query = { limit: String(MAX_CHOICES), sort: 'client_name', order: 'asc', is_active: 'true' };
  const { data } = await visit.call('GET /clients', { query });
  return itemsOf(data)
    .filter(({ origin, redirect_uris: uris }) => origin !== 'seed' && Array.isArray(uris) && uris.length > 0)
    .map((client) => ({
      id: textOf(client, 'client_id'),
      name: textOf(client, 'client_name') || textOf(client, 'client_id'),
    }));
}

async function showInvitations(visit: Visit, told: object = {}, status = 200): Promise<void> {
  const { query, ctx } = visit;
  const path = ctx.path.replace(/(\/invitations)\/.*$/, '$1');
  const [{ data }, settings, applications] = await Promise.all([
    visit.call('GET /invitations', { query }),
    settingsOf(visit),
    applicationsToChoose(visit),
  ]);
  const nameOf = createNames(visit);
  const rows = await Promise.all(
    itemsOf(data).map(async (invitation) => {
      const [client, user] = [textOf(invitation, 'client_id'), textOf(invitation, 'user_id')];
      return {
        ...invitation,
        client: client === '' ? undefined : await nameOf('client', client),
        user: user === '' ? undefined : await nameOf('user', user),
      };
    }),
  );
  const list = listLinks({ path, query, page: data, defaultSort: 'created_at' });
  const own = { title: 'Invitations', here: 'users', list, rows, applications, ...settings };
  const form = { values: { send_mail: 'on' }, made: undefined, isMailed: false };
  visit.show('invitations', { ...own, ...form, ...told }, status);
}

async function showMade(visit: Visit, made: Values, isMailed: boolean): Promise<void> {
  if (!(await visit.goOnce('/invitations', { made, isMailed })))
    await showInvitations(visit, { made, isMailed });
}

async function create(visit: Visit): Promise<void> {
  const { form } = visit;
  const days = numberOrText(form.get('days') ?? '');
  const clientId = textOrNull(form.get('client_id'));
  const isMailed = isOn(form, 'send_mail');
  try {
    const { data } = await visit.call('POST /invitations', {
      body: {
        email: (form.get('email') ?? '').trim(),
        expires_in: typeof days === 'number' ? days * DAY_SECONDS : days,
        send_mail: isMailed,
        ...(clientId !== null && { client_id: clientId }),
      },
    });
    await showMade(visit, data, isMailed);
  } catch (error) {
    const { status, alert, errors: found } = refusalOf(error);
    const { expires_in: days, ...others } = found;
    const errors = days === undefined ? others : { ...others, days: 'Must be 1 to 30 days.' };
    await showInvitations(visit, { values: typedIn(form), alert, errors }, status);
  }
}

/** The old link would stay good beside the new one: it goes once the new one is there. */
async function again(visit: Visit): Promise<void> {
  const id = visit.params.id ?? '';
  const email = (visit.form.get('email') ?? '').trim();
  const clientId = textOrNull(visit.form.get('client_id'));
  try {
    const { data } = await visit.call('POST /invitations', {
      body: { email, ...(clientId !== null && { client_id: clientId }) },
    });
    await visit.call('DELETE /invitations/{id}', { params: { id } });
    await showMade(visit, data, true);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    await showInvitations(visit, { alert, errors }, status);
  }
}

async function withdraw(visit: Visit): Promise<void> {
  await visit.call('DELETE /invitations/{id}', { params: { id: visit.params.id ?? '' } });
  visit.go('/invitations', 'invitation-withdrawn');
}

export const invitationPages: readonly Page[] = [
  {
    method: 'GET',
    path: '/invitations',
    async handle(visit) {
      await showInvitations(visit, (await visit.once()) ?? {});
    },
  },
  { method: 'POST', path: '/invitations', handle: create },
  { method: 'POST', path: '/invitations/:id/again', handle: again },
  { method: 'POST', path: '/invitations/:id/withdraw', handle: withdraw },
];
