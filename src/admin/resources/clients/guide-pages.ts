// The guides of an application: their list, and each with the application's own values.
import type { ClientView } from '../../../clients/index.ts';
import { AppError } from '../../../errors.ts';
import { guideOf, sections } from '../../guides/list.ts';
import { textOf, textsOf } from '../../pages/field-values.ts';
import { type AdminContext, get, idOf, type Page } from '../../pages/page.ts';
import { guideModel } from './guide-model.ts';
import { applicationName } from './page.ts';
import { clients } from './resource.ts';
import { hasSecret, templateOf } from './template-of.ts';

const here = 'applications';

const applicationOf = (client: ClientView) => ({
  name: applicationName(client),
  clientId: client.client_id,
  redirectUris: textsOf(client.redirect_uris),
});

async function read(context: AdminContext) {
  const params = { client_id: idOf(context).id };
  const { data: client } = await context.call(clients.read, { params });
  const application = applicationOf(client);
  const path = `/applications/${encodeURIComponent(client.client_id)}`;
  const crumbs = [
    { label: 'Applications', href: '/applications' },
    { label: application.name, href: path, isName: true },
  ];
  return { client, application, path, crumbs };
}

async function showGuides(context: AdminContext): Promise<void> {
  const { client, application, path, crumbs } = await read(context);
  const kind = templateOf(client);
  const fits = (guideKind: string): boolean =>
    guideKind === kind ||
    (kind === 'web' && guideKind === 'product') ||
    (kind === 'native' && guideKind === 'agent');
  const [suited, others] = [true, false].map((isSuited) =>
    sections
      .map(({ title, guides }) => ({
        title,
        guides: guides.filter((guide) => fits(guide.kind) === isSuited),
      }))
      .filter(({ guides }) => guides.length > 0),
  );
  context.show('guides', {
    title: 'Guides',
    here,
    crumbs,
    name: application.name,
    path,
    suited,
    others,
    application: {
      clientId: client.client_id,
      clientSecret: client.client_type === 'confidential' ? 'your client secret' : undefined,
      redirectUri: application.redirectUris[0],
    },
  });
}

async function showGuide(context: AdminContext): Promise<void> {
  const guide = guideOf(context.params.guide);
  if (guide === undefined) throw new AppError('request.not_found');
  const { client, application, path, crumbs } = await read(context);
  const model = guideModel(context, guide, application);
  context.show('guide', {
    title: `${guide.label}: ${textOf({ name: application.name }, 'name')}`,
    isTitleName: true,
    here,
    crumbs: [...crumbs, { label: 'Guides', href: `${path}/connect` }],
    name: application.name,
    path,
    guide: model,
    hasSecret: hasSecret(client),
    // The lines would not run: its library sends a secret that the application has not, or the other way round.
    mismatch: guide.kind !== templateOf(client) && !(guide.kind === 'product' || guide.kind === 'agent'),
    kind: templateOf(client),
  });
}

export const guidePages: readonly Page[] = [
  get('/applications/:id/connect', showGuides),
  get('/applications/:id/connect/:guide', showGuide),
];
