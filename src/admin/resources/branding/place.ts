// Whose look a page of the Admin UI is about: that of all pages, below Settings, or one application's, below it.
import type { Look } from '../../../branding/index.ts';
import { type AdminContext, type Crumb, idOf } from '../../pages/page.ts';
import { createNames } from '../names.ts';
import { branding, clientBranding, lookExport } from './resource.ts';
import { type LookBody, type LookView, toLook } from './schema.ts';

interface Where {
  /** Of its page; the address has the id of an application. */
  readonly address: string;
  readonly here: string;
  readonly title: string;
  /** Undefined: of all. */
  clientIdOf(context: AdminContext): string | undefined;
  pathOf(context: AdminContext): string;
  crumbsOf(context: AdminContext): Promise<readonly Crumb[]>;
}

/** @param routes of this look @param exported the route of its file @param paramsOf what both take */
const placeOf = (
  where: Where,
  routes: Pick<typeof branding, 'read' | 'change' | 'replace' | 'versions' | 'restore'>,
  exported: typeof lookExport.ofAll,
  paramsOf: (context: AdminContext) => object,
) => ({
  ...where,
  read: (context: AdminContext) => context.call(routes.read, { params: paramsOf(context) }),
  change: (context: AdminContext, body: object, ifVersion?: number) =>
    context.call(routes.change, { params: paramsOf(context), body, ifVersion }),
  replace: (context: AdminContext, body: LookBody, ifVersion: number) =>
    context.call(routes.replace, { params: paramsOf(context), body, ifVersion }),
  exported: async (context: AdminContext) =>
    (await context.call(exported, { params: paramsOf(context) })).data,
  versions: async (context: AdminContext) =>
    (await context.call(routes.versions, { params: paramsOf(context) })).data.items,
  restore: (context: AdminContext, version: number) =>
    context.call(routes.restore, { params: paramsOf(context), body: { version } }),
});

export type Place = ReturnType<typeof placeOf>;

const ofAll: Where = {
  address: '/branding',
  here: 'settings',
  title: 'Branding',
  clientIdOf: () => undefined,
  pathOf: () => '/branding',
  crumbsOf: async () => [{ label: 'Settings', href: '/settings' }],
};

const pathOfClient = (context: AdminContext) => `/applications/${encodeURIComponent(idOf(context).id)}`;

const ofApplication: Where = {
  address: '/applications/:id/looks',
  here: 'applications',
  title: 'Looks',
  clientIdOf: (context) => idOf(context).id,
  pathOf: (context) => `${pathOfClient(context)}/looks`,
  crumbsOf: async (context) => [
    { label: 'Applications', href: '/applications' },
    {
      label: (await createNames(context)('client', idOf(context).id)).label,
      href: pathOfClient(context),
      isName: true,
    },
  ],
};

export const places: readonly Place[] = [
  placeOf(ofAll, branding, lookExport.ofAll, () => ({})),
  placeOf(ofApplication, clientBranding, lookExport.ofClient, (context) => ({ client_id: idOf(context).id })),
];

/** What saving the body would make of the stored look. @throws AppError request.invalid, as saving does */
export function lookAfter({ updated_at: _, updated_by: __, ...stored }: LookView, body: object): Look {
  const next: LookBody = branding.replace.check.body.parse({ ...stored, ...body });
  return toLook(next);
}
