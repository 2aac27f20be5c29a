// How pages look: of the installation, and of an application that an administrator vouches for. A change makes a new version;
// an earlier one can be brought back, which is a new version again.
import type { Static, TObject, TSchema } from 'typebox';
import { type LookVersion, type SavedLook, type Target, targetOf } from '../../../branding/index.ts';
import { type Client, CONSOLE_CLIENT_ID } from '../../../clients/index.ts';
import { AppError } from '../../../errors.ts';
import { defineRoutes, type RouteKit } from '../../api/define-resource.ts';
import type { Actor, AdminPorts } from '../../api/ports.ts';
import { array, integer, iso, object, orNull, string, timestamp } from '../../api/schema-parts.ts';
import { clientIdParams } from '../../api/shared.ts';
import { lookBody, lookSchema, shownLook, shownSaved, toLook } from './schema.ts';
import { lookFileOf, lookFileSchema } from './transfer.ts';

/** Of each version of what is kept by versions. */
export const versionMembers = {
  version: integer('Its number.'),
  at: timestamp('When it was saved.'),
  by: string('Who saved it, as `kind:id`.'),
  restored: orNull(integer(), 'The version that it brought back; null: none.'),
};
export const versionItems = <S extends TSchema>(version: S) =>
  array(version, 'The newest first; the last 30.');
export const shownVersion = ({ number, at, by, restored }: LookVersion) => ({
  version: number,
  at: iso(at),
  by,
  restored: restored ?? null,
});
export const restoreBody = object({
  version: integer({ minimum: 1, maximum: 99_999_999, description: 'The version to bring back.' }),
});

export const nameOf = ({ kind, id }: Actor): string => `${kind}:${id}`;

const answerOf = (saved: SavedLook) => ({ data: shownSaved(saved), version: saved.version });

const described = { answer: lookSchema, hasVersion: true } as const;
const versionSchema = object(
  { ...versionMembers, look: object(lookBody.properties, 'What pages looked like.') },
  'A version of a look.',
);
const versionsSchema = object({ items: versionItems(versionSchema) }, 'The versions of a look.');

/** Strangers choose their own name; they do not choose what our pages look like. */
const isVouchedFor = ({ value }: Client): boolean =>
  value.quarantine === undefined &&
  value.metadata.client_id !== CONSOLE_CLIENT_ID &&
  (value.origin === 'admin' || value.skipConsent);

/** Whose look it is, and how its routes speak of it. */
interface Whose<P extends TObject> {
  readonly path: `/${string}`;
  readonly params?: P;
  readonly target: 'setting' | 'client';
  /** The path names none: there is only one. */
  readonly hasTarget?: true;
  readonly look: string;
  readonly read: string;
  readonly replace: string;
  readonly change: string;
  targetOf(params: Static<P>, ports: AdminPorts, isChanging: boolean): Promise<Target>;
}

const ofAll: Whose<TObject> = {
  path: '/branding',
  target: 'setting',
  hasTarget: true,
  look: 'how pages look',
  read: 'Read how pages look',
  replace: 'Replace how pages look: what is not given is not set',
  change: 'Change the given members of how pages look',
  targetOf: async () => 'default',
};

const ofClient: Whose<typeof clientIdParams> = {
  path: '/clients/{client_id}/branding',
  params: clientIdParams,
  target: 'client',
  look: 'an application’s look',
  read: 'Read what an application has differently from how pages look',
  replace: 'Replace what an application has differently',
  change: 'Change the given members of what an application has differently',
  async targetOf({ client_id: clientId }, { clients }, isChanging) {
    const client = await clients.find(clientId);
    if (client === undefined) throw new AppError('client.not_found');
    if (isChanging && !isVouchedFor(client)) throw new AppError('branding.of_stranger');
    return targetOf(clientId);
  },
};

const exportOf = <P extends TObject>({ route }: RouteKit, whose: Whose<P>) =>
  route(`GET ${whose.path}/export`, {
    summary: `Export ${whose.look}, with the pictures`,
    ...(whose.params && { params: whose.params }),
    answer: lookFileSchema,
    async run({ params }, ports) {
      const { look } = await ports.looks.read(await whose.targetOf(params, ports, false));
      return { data: await lookFileOf(look, ports.pictures) };
    },
  });

function routesOf<P extends TObject>({ route }: RouteKit, whose: Whose<P>) {
  const { path, params, target, hasTarget, look, targetOf } = whose;
  const own = { ...(params && { params }) };
  const changing = {
    ...(hasTarget && { hasTarget }),
    recorded: { event: 'branding.changed', target, isBodyShown: true },
  } as const;
  return {
    read: route(`GET ${path}`, {
      ...own,
      summary: whose.read,
      ...described,
      run: async ({ params }, ports) =>
        answerOf(await ports.looks.read(await targetOf(params, ports, false))),
    }),
    replace: route(`PUT ${path}`, {
      ...own,
      ...changing,
      summary: whose.replace,
      body: lookBody,
      ...described,
      async run({ params, body, actor, ifVersion }, ports) {
        const { looks } = ports;
        const to = await targetOf(params, ports, true);
        return answerOf(await looks.save(to, toLook(body), nameOf(actor), { ifVersion }));
      },
    }),
    change: route(`PATCH ${path}`, {
      ...own,
      ...changing,
      summary: whose.change,
      body: lookBody,
      ...described,
      /** What is given counts; the rest is that of the version that it read. */
      async run({ params, body, actor, ifVersion }, ports) {
        const { looks } = ports;
        const to = await targetOf(params, ports, true);
        const before = await looks.read(to);
        if (ifVersion !== undefined && ifVersion !== before.version) throw new AppError('branding.changed');
        const next = toLook({ ...shownLook(before.look), ...body });
        return answerOf(await looks.save(to, next, nameOf(actor), { ifVersion: before.version }));
      },
    }),
    versions: route(`GET ${path}/versions`, {
      ...own,
      summary: `List the versions of ${look}`,
      answer: versionsSchema,
      async run({ params }, ports) {
        const versions = await ports.looks.versions(await targetOf(params, ports, false));
        return {
          data: { items: versions.map((one) => ({ ...shownVersion(one), look: shownLook(one.look) })) },
        };
      },
    }),
    restore: route(`POST ${path}/restore`, {
      ...own,
      ...changing,
      recorded: { ...changing.recorded, event: 'branding.restored' },
      summary: `Bring back an earlier version of ${look}`,
      body: restoreBody,
      ...described,
      async run({ params, body, actor, ifVersion }, ports) {
        const to = await targetOf(params, ports, true);
        return answerOf(await ports.looks.restore(to, body.version, nameOf(actor), { ifVersion }));
      },
    }),
  };
}

export const branding = defineRoutes('Branding', (on) => routesOf(on, ofAll));
export const clientBranding = defineRoutes('Branding', (on) => routesOf(on, ofClient));

export const lookExport = defineRoutes('Branding', (on) => ({
  ofAll: exportOf(on, ofAll),
  ofClient: exportOf(on, ofClient),
}));
