// How pages look: of the installation, and of an application that an administrator vouches for. A change makes a new version;
// an earlier one can be brought back, which is a new version again.
import { type Looks, type Pictures, type SavedLook, type Target, targetOf } from '../../../branding/index.ts';
import { type Client, type Clients, CONSOLE_CLIENT_ID } from '../../../clients/index.ts';
import { AppError } from '../../../errors.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import type { Actor } from '../../api/ports.ts';
import { array, integer, iso, object, orNull, string, timestamp } from '../../api/schema-parts.ts';
import { clientIdParams } from '../../api/shared.ts';
import { type LookBody, lookBody, lookSchema, shownLook, shownSaved, toLook } from './schema.ts';
import { lookFileOf, lookFileSchema } from './transfer.ts';

export type LooksPort = Pick<
  Looks,
  'read' | 'save' | 'versions' | 'restore' | 'ofClients' | 'lookOf' | 'lookWith' | 'mailTexts'
>;

interface Ports {
  readonly looks: LooksPort;
  readonly pictures: Pick<Pictures, 'read'>;
  readonly clients: Pick<Clients, 'find'>;
}

const versionSchema = object(
  {
    version: integer('Its number.'),
    at: timestamp('When it was saved.'),
    by: string('Who saved it, as `kind:id`.'),
    restored: orNull(integer(), 'The version that it brought back; null: none.'),
    look: object(lookBody.properties, 'What pages looked like.'),
  },
  'A version of a look.',
);
const versionsSchema = object(
  { items: array(versionSchema, 'The newest first; the last 30.') },
  'The versions of a look.',
);
const restoreBody = object({
  version: integer({ minimum: 1, maximum: 99_999_999, description: 'The version to bring back.' }),
});

const nameOf = ({ kind, id }: Actor): string => `${kind}:${id}`;

const answerOf = (saved: SavedLook) => ({ data: shownSaved(saved), version: saved.version });

const described = { status: 200, schema: lookSchema, hasVersion: true } as const;

const versionsOf = async (target: Target, { looks }: Ports) => ({
  data: {
    items: (await looks.versions(target)).map(({ number, look, at, by, restored }) => ({
      version: number,
      at: iso(at),
      by,
      restored: restored ?? null,
      look: shownLook(look),
    })),
  },
});

const exportOf = async (target: Target, { looks, pictures }: Ports) => ({
  data: await lookFileOf((await looks.read(target)).look, pictures),
});

/** Strangers choose their own name; they do not choose what our pages look like. */
const isVouchedFor = ({ value }: Client): boolean =>
  value.quarantine === undefined &&
  value.metadata.client_id !== CONSOLE_CLIENT_ID &&
  (value.origin === 'admin' || value.skipConsent);

async function targetFor(clientId: string, { clients }: Ports, isChanging: boolean): Promise<Target> {
  const client = await clients.find(clientId);
  if (client === undefined) throw new AppError('client.not_found');
  if (isChanging && !isVouchedFor(client)) throw new AppError('branding.of_stranger');
  return targetOf(clientId);
}

/** What is given counts; PATCH leaves the rest, of the version that it read. */
async function change(
  method: 'PUT' | 'PATCH',
  target: Target,
  input: { readonly body: LookBody; readonly actor: Actor; readonly ifVersion: number | undefined },
  { looks }: Ports,
) {
  const { body, actor, ifVersion } = input;
  if (method === 'PUT') return answerOf(await looks.save(target, toLook(body), nameOf(actor), { ifVersion }));
  const before = await looks.read(target);
  if (ifVersion !== undefined && ifVersion !== before.version) throw new AppError('branding.changed');
  const next = toLook({ ...shownLook(before.look), ...body });
  return answerOf(await looks.save(target, next, nameOf(actor), { ifVersion: before.version }));
}

const recorded = { event: 'branding.changed', target: 'setting', isBodyShown: true } as const;
const ofClient = { event: 'branding.changed', target: 'client', isBodyShown: true } as const;

export const branding = defineRoutes('Branding', (on: RouteKit<Ports>) => {
  const write = (method: 'PUT' | 'PATCH', summary: string) =>
    on.route({
      method,
      path: '/branding',
      hasTarget: true,
      recorded,
      summary,
      body: lookBody,
      success: described,
      run: (input, ports) => change(method, 'default', input, ports),
    });
  const writeOfClient = (method: 'PUT' | 'PATCH', summary: string) =>
    on.route({
      method,
      path: '/clients/{client_id}/branding',
      recorded: ofClient,
      summary,
      params: clientIdParams,
      body: lookBody,
      success: described,
      run: async (input, ports) =>
        change(method, await targetFor(input.params.client_id, ports, true), input, ports),
    });

  return {
    read: on.route({
      method: 'GET',
      path: '/branding',
      summary: 'Read how pages look',
      success: described,
      run: async (_, { looks }) => answerOf(await looks.read('default')),
    }),
    replace: write('PUT', 'Replace how pages look: what is not given is not set'),
    change: write('PATCH', 'Change the given members of how pages look'),
    versions: on.route({
      method: 'GET',
      path: '/branding/versions',
      summary: 'List the versions of how pages look',
      success: { status: 200, schema: versionsSchema },
      run: (_, ports) => versionsOf('default', ports),
    }),
    restore: on.route({
      method: 'POST',
      path: '/branding/restore',
      hasTarget: true,
      recorded: { ...recorded, event: 'branding.restored' },
      summary: 'Bring back an earlier version of how pages look',
      body: restoreBody,
      success: described,
      run: async ({ body, actor, ifVersion }, { looks }) =>
        answerOf(await looks.restore('default', body.version, nameOf(actor), { ifVersion })),
    }),
    readOfClient: on.route({
      method: 'GET',
      path: '/clients/{client_id}/branding',
      summary: 'Read what an application has differently from how pages look',
      params: clientIdParams,
      success: described,
      run: async ({ params }, ports) =>
        answerOf(await ports.looks.read(await targetFor(params.client_id, ports, false))),
    }),
    replaceOfClient: writeOfClient('PUT', 'Replace what an application has differently'),
    changeOfClient: writeOfClient('PATCH', 'Change the given members of what an application has differently'),
    versionsOfClient: on.route({
      method: 'GET',
      path: '/clients/{client_id}/branding/versions',
      summary: 'List the versions of an application’s look',
      params: clientIdParams,
      success: { status: 200, schema: versionsSchema },
      run: async ({ params }, ports) => versionsOf(await targetFor(params.client_id, ports, false), ports),
    }),
    restoreOfClient: on.route({
      method: 'POST',
      path: '/clients/{client_id}/branding/restore',
      recorded: { ...ofClient, event: 'branding.restored' },
      summary: 'Bring back an earlier version of an application’s look',
      params: clientIdParams,
      body: restoreBody,
      success: described,
      run: async ({ params, body, actor, ifVersion }, ports) => {
        const target = await targetFor(params.client_id, ports, true);
        return answerOf(await ports.looks.restore(target, body.version, nameOf(actor), { ifVersion }));
      },
    }),
  };
});

export const lookExport = defineRoutes('Branding', (on: RouteKit<Ports>) => ({
  ofAll: on.route({
    method: 'GET',
    path: '/branding/export',
    summary: 'Export how pages look, with the pictures',
    success: { status: 200, schema: lookFileSchema },
    run: async (_, ports) => exportOf('default', ports),
  }),
  ofClient: on.route({
    method: 'GET',
    path: '/clients/{client_id}/branding/export',
    summary: 'Export an application’s look, with the pictures',
    params: clientIdParams,
    success: { status: 200, schema: lookFileSchema },
    run: async ({ params }, ports) => exportOf(await targetFor(params.client_id, ports, false), ports),
  }),
}));
