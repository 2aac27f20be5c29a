// The part of a user's page about credentials and access: passkeys and authorized applications, each with its removal.
import { phrase } from '../../../phrase.ts';
import { formPages, orShown } from '../../pages/form-pages.ts';
import { personName } from '../../pages/format.ts';
import { type AdminContext, idOf, type Page, post } from '../../pages/page.ts';
import { passkeys } from '../passkeys/resource.ts';
import { grants } from '../tokens/resource.ts';
import { showUser } from './page.ts';
import { users } from './resource.ts';

const PAGE = 100;
/** Bounds the revocation of one application's grants; no user has as many sessions. */
const MAX_ROUNDS = 50;

async function showPasskeyEnd(context: AdminContext, shown: object = {}, status = 200): Promise<void> {
  const params = idOf(context);
  const [{ data: user }, { data: own }] = await Promise.all([
    context.call(users.read, { params }),
    context.call(passkeys.list, { params }),
  ]);
  const passkey = own.items.find(({ id }) => id === context.params.passkey_id);
  const back = `/users/${user.id}`;
  // Removed in the meantime, by the user or by another administrator.
  if (passkey === undefined) return context.go(back);
  const name = personName(user);
  const ask = {
    heading: phrase`Remove the passkey “${passkey.label}” of ${name}?`,
    consequences: [
      'No one can sign in with it any more. It cannot be restored; the user can add another one.',
      own.items.length === 1
        ? 'It is the only one: they sign in with their password, if they have one.'
        : `They have ${own.items.length - 1} more.`,
      'Their devices may still offer it until they delete it there.',
    ],
    button: 'Remove passkey',
    isDanger: true,
  };
  const model = {
    title: ask.heading,
    here: 'users',
    crumbs: [
      { label: 'Users', href: '/users' },
      { label: name, href: back, isName: true },
    ],
    ask,
    back,
    action: `${back}/passkeys/${context.params.passkey_id ?? ''}/remove`,
  };
  context.show('confirm', { ...model, thing: passkey, typed: '', values: {}, ...shown }, status);
}

async function removePasskey(context: AdminContext): Promise<void> {
  const { id = '', passkey_id = '' } = context.params;
  await context.call(passkeys.remove, { params: { id, passkey_id } });
  context.go(`/users/${id}`, 'passkey-removed');
}

/** Revokes all grants of the application, whichever session they belong to. */
async function takeBack(context: AdminContext): Promise<void> {
  const { id = '', client_id = '' } = context.params;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const query = { client_id, limit: String(PAGE) };
    const { items } = (await context.call(grants.list, { params: { id }, query })).data;
    for (const grant of items) {
      await context.call(grants.remove, { params: { id, grant_id: grant.id } });
    }
    if (items.length < PAGE) break;
  }
  context.go(`/users/${id}`, 'access-taken');
}

export const userAccessPages: readonly Page[] = [
  ...formPages({
    path: '/users/:id/passkeys/:passkey_id/remove',
    isSensitive: true,
    show: showPasskeyEnd,
    submit: removePasskey,
  }),
  post('/users/:id/access/:client_id/take-back', orShown(takeBack, showUser)),
];
