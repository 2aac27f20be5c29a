// The page after an application was added or its secret rotated: the only one that shows a secret, once, and the first thing to
// do with it.
import { isMembers } from '../../../json.ts';
import type { Guide } from '../../guides/guide.ts';
import { guideOf, guides } from '../../guides/list.ts';
import { textOf, textsOf } from '../../pages/field-values.ts';
import { type AdminContext, get, idOf, type Page, type Values } from '../../pages/page.ts';
import { guideModel } from './guide-model.ts';
import type { WayBack } from './registration-link.ts';
import { clients } from './resource.ts';
import { hasSecret, templateOf } from './template-of.ts';

interface After {
  /** Shown after the application's name. */
  readonly verb: string;
  /** Back to the program whose link filled in the form. */
  readonly way?: WayBack | undefined;
  /** The id of the guide that was chosen. */
  readonly guide?: string | undefined;
  readonly isNew?: boolean;
}

export async function goToSecret(context: AdminContext, client: Values, after: After): Promise<void> {
  // A record always fits; if it did not, showing the secret at once would be the only way not to lose it.
  const path = `/applications/${encodeURIComponent(textOf(client, 'client_id'))}/secret`;
  if (!(await context.goOnce(path, { client, after }))) showSecret(context, client, after);
}

async function showSecretOnce(context: AdminContext): Promise<void> {
  const { client, after } = (await context.once()) ?? {};
  // The whole page is kept by us, sealed for this administrator.
  if (isMembers(client) && isMembers(after)) return showSecret(context, client, after);
  const { id } = idOf(context);
  const { data } = await context.call(clients.read, { params: { client_id: id } });
  // Of many applications there is none, and never was.
  context.go(`/applications/${encodeURIComponent(id)}`, hasSecret(data) ? 'secret-shown' : undefined);
}

/** Those that fit the application best come first. */
const suited = (client: Values): readonly Guide[] => {
  const kind = templateOf(client);
  return guides.filter((guide) => guide.kind === kind || (kind === 'web' && guide.kind === 'product'));
};

/** Whether its lines read the secret from the environment without having said how it gets there. */
function readsSecret({ steps }: ReturnType<typeof guideModel>, secret: string): boolean {
  const lines = steps.flatMap(({ blocks }) => blocks.map(({ code }) => code)).join('\n');
  return lines.includes('OIDC_CLIENT_SECRET') && !lines.includes(secret);
}

function showSecret(context: AdminContext, client: Values, after: Values | After): void {
  const { way, guide: id, isNew, verb } = { ...after };
  const redirectUris = textsOf(client.redirect_uris);
  const application = {
    name: textOf(client, 'client_name'),
    clientId: textOf(client, 'client_id'),
    redirectUris,
    clientSecret: textOf(client, 'client_secret') || undefined,
  };
  const chosen = guideOf(typeof id === 'string' ? id : undefined);
  const guide = chosen && guideModel(context, chosen, application);
  const { clientSecret: secret } = application;
  context.show('application-secret', {
    title: application.name,
    isTitleName: true,
    here: 'applications',
    crumbs: [{ label: 'Applications', href: '/applications' }],
    verb: String(verb),
    way: isMembers(way) ? way : undefined,
    isNew: isNew === true,
    created: {
      ...application,
      kind: templateOf(client),
      redirectUri: redirectUris[0],
    },
    guide,
    readsSecret: guide !== undefined && secret !== undefined && readsSecret(guide, secret),
    suited: suited(client),
  });
}

export const secretPages: readonly Page[] = [
  get('/applications/:id/secret', showSecretOnce, { needs: 'admin' }),
];
