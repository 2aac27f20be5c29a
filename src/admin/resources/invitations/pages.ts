// The pages of invitations: list, create, resend and revoke. An invitation's link is shown once, in the response that
// created it.
import type { Queued } from '../../../mail/index.ts';
import { isOn, numberOrText, textOrNull } from '../../pages/field-values.ts';
import { orShown, type Refused, shows } from '../../pages/form-pages.ts';
import { listLinks } from '../../pages/list-links.ts';
import { type AdminContext, get, idOf, type Page, post, type Values } from '../../pages/page.ts';
import { createNames } from '../names.ts';
import { applicationsToChoose, DAY_SECONDS, settingsOf } from './choices.ts';
import { invitations } from './resource.ts';

const showInvitations = shows('invitations', async (context) => {
  const { query, ctx } = context;
  const path = ctx.path.replace(/(\/invitations)\/.*$/, '$1');
  const [{ data }, settings, applications] = await Promise.all([
    context.call(invitations.list, { query }),
    settingsOf(context),
    applicationsToChoose(context),
  ]);
  const nameOf = createNames(context);
  const rows = await Promise.all(
    data.items.map(async (invitation) => {
      const { client_id: client, user_id: user } = invitation;
      return {
        ...invitation,
        client: client === null ? undefined : await nameOf('client', client),
        user: user === null ? undefined : await nameOf('user', user),
      };
    }),
  );
  const list = listLinks(context, invitations.list, data, { path });
  const own = { title: 'Invitations', here: 'users', list, rows, applications, ...settings };
  const form = { values: { send_mail: 'on' }, made: undefined, mailState: undefined };
  return { ...own, ...form };
});

/** @param mail what became of it, where one was asked for */
async function showMade(context: AdminContext, made: Values, mail: Queued | undefined): Promise<void> {
  const shown = { made, mailState: mail?.state };
  if (!(await context.goOnce('/invitations', shown))) await showInvitations(context, shown);
}

async function create(context: AdminContext): Promise<void> {
  const { form } = context;
  const days = numberOrText(form.get('days') ?? '');
  const clientId = textOrNull(form.get('client_id'));
  const isMailed = isOn(form, 'send_mail');
  const { data, mail } = await context.call(invitations.create, {
    body: {
      email: (form.get('email') ?? '').trim(),
      expires_in: typeof days === 'number' ? days * DAY_SECONDS : days,
      send_mail: isMailed,
      ...(clientId !== null && { client_id: clientId }),
    },
  });
  await showMade(context, data, mail);
}

function showRefused(context: AdminContext, refused: Refused, status: number): Promise<void> {
  const { expires_in: days, ...others } = refused.errors;
  const errors = days === undefined ? others : { ...others, days: 'Must be 1 to 30 days.' };
  return showInvitations(context, { ...refused, errors }, status);
}

async function again(context: AdminContext): Promise<void> {
  const { data, mail } = await context.call(invitations.renew, { params: idOf(context) });
  await showMade(context, data, mail);
}

async function withdraw(context: AdminContext): Promise<void> {
  await context.call(invitations.remove, { params: idOf(context) });
  context.go('/invitations', 'invitation-withdrawn');
}

export const invitationPages: readonly Page[] = [
  get('/invitations', async (context) => {
    await showInvitations(context, (await context.once()) ?? {});
  }),
  post('/invitations', orShown(create, showRefused)),
  post(
    '/invitations/:id/again',
    orShown(again, (context, { alert, errors }, status) =>
      showInvitations(context, { alert, errors }, status),
    ),
  ),
  post('/invitations/:id/withdraw', withdraw),
];
