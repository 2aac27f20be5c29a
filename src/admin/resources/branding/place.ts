// Whose look a page of the Admin UI is about: that of all pages, below Settings, or one application's, below it.
import type { Look } from '../../../branding/index.ts';
import { type AdminContext, type Crumb, idOf } from '../../pages/page.ts';
import { createNames } from '../names.ts';
import { branding, lookExport } from './resource.ts';
import { type LookBody, type LookView, toLook } from './schema.ts';

const clientOf = (context: AdminContext) => ({ client_id: idOf(context).id });

export type Version = Awaited<ReturnType<typeof readVersions>>[number];
const readVersions = async (context: AdminContext) => (await context.call(branding.versions, {})).data.items;

export interface Place {
  readonly address: string;
  readonly here: string;
  readonly title: string;
  /** Undefined: of all. */
  clientIdOf(context: AdminContext): string | undefined;
  pathOf(context: AdminContext): string;
  crumbsOf(context: AdminContext): Promise<readonly Crumb[]>;
  read(context: AdminContext): Promise<{ readonly data: LookView; readonly version: number | undefined }>;
  change(context: AdminContext, body: object, ifVersion?: number): Promise<unknown>;
  replace(context: AdminContext, body: LookBody, ifVersion: number): Promise<unknown>;
  exported(context: AdminContext): Promise<object>;
  versions(context: AdminContext): Promise<readonly Version[]>;
  restore(context: AdminContext, version: number): Promise<unknown>;
}

const ofAll: Place = {
  address: '/branding',
  here: 'settings',
  title: 'Branding',
  clientIdOf: () => undefined,
  pathOf: () => '/branding',
  crumbsOf: async () => [{ label: 'Settings', href: '/settings' }],
  read: (context) => context.call(branding.read, {}),
  change: (context, body, ifVersion) => context.call(branding.change, { body, ifVersion }),
  replace: (context, body, ifVersion) => context.call(branding.replace, { body, ifVersion }),
  exported: async (context) => (await context.call(lookExport.ofAll, {})).data,
  versions: readVersions,
  restore: (context, version) => context.call(branding.restore, { body: { version } }),
};

const ofApplication: Place = {
  address: '/applications/:id/looks',
  here: 'applications',
  title: 'Looks',
  clientIdOf: (context) => idOf(context).id,
  pathOf: (context) => `/applications/${encodeURIComponent(idOf(context).id)}/looks`,
  crumbsOf: async (context) => [
    { label: 'Applications', href: '/applications' },
    {
      label: (await createNames(context)('client', idOf(context).id)).label,
      href: `/applications/${encodeURIComponent(idOf(context).id)}`,
      isName: true,
    },
  ],
  read: (context) => context.call(branding.readOfClient, { params: clientOf(context) }),
  change: (context, body, ifVersion) =>
    context.call(branding.changeOfClient, { params: clientOf(context), body, ifVersion }),
  replace: (context, body, ifVersion) =>
    context.call(branding.replaceOfClient, { params: clientOf(context), body, ifVersion }),
  exported: async (context) => (await context.call(lookExport.ofClient, { params: clientOf(context) })).data,
  versions: async (context) =>
    (await context.call(branding.versionsOfClient, { params: clientOf(context) })).data.items,
  restore: (context, version) =>
    context.call(branding.restoreOfClient, { params: clientOf(context), body: { version } }),
};

export const places: readonly Place[] = [ofAll, ofApplication];

/** What saving the body would make of the stored look. @throws AppError request.invalid, as saving does */
export function lookAfter({ updated_at: _, updated_by: __, ...stored }: LookView, body: object): Look {
  const next: LookBody = branding.replace.check.body.parse({ ...stored, ...body });
  return toLook(next);
}
