// The looks that there are, and changing them. Every process holds all of them, since every page needs one: they are read again
// when the settings say that one was changed (settings.looks()), so that a page costs no read of its own.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { AppError, invalid } from '../errors.ts';
import type { Settings } from '../settings/index.ts';
import { type Look, type LookVersionRecord, looks, lookVersions, pictures } from '../store/looks.ts';
import { AlreadyExists, type Store, VersionConflict } from '../store/port.ts';
import { merged, picturesOf } from './look.ts';
import { useOf } from './pictures.ts';

/** `default`: the installation's; `mails`: the texts of mails, with versions of their own. */
export type Target = 'default' | 'mails' | `client:${string}`;
export const targetOf = (clientId: string): Target => `client:${clientId}`;

export interface SavedLook {
  readonly look: Look;
  /** 0 while none was saved. */
  readonly version: number;
  readonly at: number | undefined;
  readonly by: string | undefined;
}

export interface LookVersion {
  readonly number: number;
  readonly look: Look;
  readonly at: number;
  readonly by: string;
  readonly restored: number | undefined;
}

export interface IfVersion {
  readonly ifVersion?: number | undefined;
}

export interface Looks {
  /** What a page of this application has, or one of none; undefined while nothing is set. */
  lookOf(clientId?: string): Look | undefined;
  /** What the same pages would have with another look of this application, or of all. */
  lookWith(clientId: string | undefined, look: Look): Look;
  /** What an administrator wrote in place of shipped texts. */
  mailTexts(): Look['mails'];
  /** An application's picture for lists and cards; only one that an administrator gave it. */
  iconOf(clientId: string): string | undefined;
  /** Reads again after a change by another process. @throws StoreUnavailable */
  refresh(): Promise<void>;
  read(target: Target): Promise<SavedLook>;
  /** @throws AppError branding.changed, branding.too_many, request.invalid (a picture that there is not) */
  save(target: Target, look: Look, actor: string, options?: IfVersion): Promise<SavedLook>;
  /** The newest first. */
  versions(target: Target): Promise<LookVersion[]>;
  /** @throws AppError branding.version_not_found, and as `save` does */
  restore(target: Target, number: number, actor: string, options?: IfVersion): Promise<SavedLook>;
  forgetClient(clientId: string): Promise<void>;
  /** The applications that have a look of their own. */
  ofClients(): readonly { readonly clientId: string; readonly look: Look }[];
}

const KEPT_VERSIONS = 30;
/** Every process holds them. */
const MAX_APPLICATIONS = 500;
const PAGE = 1000;
const PICTURES_PAGE = 20;
/** An upload that no look has is kept for the form that it was made for. */
const UNUSED_MS = 24 * 3_600_000;

const versionId = (target: string, number: number): string => `${target}:${String(number).padStart(8, '0')}`;

export function createLooks(deps: {
  store: Store;
  clock: Clock;
  settings: Pick<Settings, 'looks' | 'countLooks'>;
}): Looks {
  const { store, clock, settings } = deps;
  const current = store.collection(looks);
  const versions = store.collection(lookVersions);
  const kept = store.collection(pictures);
  let held = new Map<string, Look>();
  let forPages = new Map<string, Look>();
  let heldAs = 0;
  let reading: Promise<void> | undefined;

  async function readAgain(): Promise<void> {
    const count = settings.looks();
    const { items } = await current.query({ sort: 'id', order: 'asc', limit: PAGE, isCounted: false });
    held = new Map(items.map(({ id, value }) => [id, value.look]));
    forPages = new Map();
    heldAs = count;
  }

  async function refresh(): Promise<void> {
    // Two rounds: a read in progress may have started before the change that must be seen.
    for (let round = 0; round < 2 && settings.looks() !== heldAs; round += 1) {
      reading ??= readAgain().finally(() => {
        reading = undefined;
      });
      await reading;
    }
  }

  /** The same object until something changes: what is computed of it is kept with it. */
  function lookOf(clientId?: string): Look | undefined {
    const own = clientId === undefined ? undefined : held.get(targetOf(clientId));
    const ofAll = held.get('default');
    if (own === undefined || clientId === undefined) return ofAll;
    const known = forPages.get(clientId);
    if (known !== undefined) return known;
    const look = merged(ofAll, own);
    forPages.set(clientId, look);
    return look;
  }

  async function checkPictures(look: Look): Promise<void> {
    const fields: Record<string, string> = {};
    for (const [name, id] of picturesOf(look)) {
      const found = await kept.find(id);
      if (found === undefined) fields[name] = 'There is no such picture. Upload it first.';
      else if (useOf(found.value) !== (name === 'background_picture' ? 'background' : 'logo'))
        fields[name] = 'This picture was uploaded for another use.';
    }
    if (Object.keys(fields).length > 0) throw invalid(fields);
  }

  async function forgetOld(target: Target): Promise<void> {
    const old = (await versions.findBy('target', target)).slice(0, -KEPT_VERSIONS);
    for (const { id } of old) await versions.remove(id);
    const all = await versions.query({ sort: 'id', order: 'asc', limit: PAGE, isCounted: false });
    // Not all versions fit on one page: then nothing is known to be unused.
    if (all.items.length === PAGE) return;
    const used = new Set(all.items.flatMap(({ value }) => picturesOf(value.look).map(([, id]) => id)));
    for await (const id of oldPictures()) if (!used.has(id)) await kept.remove(id);
  }

  /** Few at a time: what is read of each is all of it. */
  async function* oldPictures(): AsyncGenerator<string> {
    const filters = [{ field: 'created_at', op: 'lte', value: clock() - UNUSED_MS }] as const;
    let place = '';
    for (;;) {
      const { items } = await kept.query({
        filters,
        sort: 'id',
        order: 'asc',
        limit: PICTURES_PAGE,
        isCounted: false,
        ...(place !== '' && { after: { id: place, sortValue: undefined } }),
      });
      for (const { id } of items) yield id;
      const last = items.at(-1)?.id;
      if (last === undefined || items.length < PICTURES_PAGE) return;
      place = last;
    }
  }

  async function read(target: Target): Promise<SavedLook> {
    const found = await current.find(target);
    if (found === undefined) return { look: {}, version: 0, at: undefined, by: undefined };
    const { look, at, by, number } = found.value;
    return { look, version: number, at, by };
  }

  async function save(
    target: Target,
    look: Look,
    by: string,
    { ifVersion, restored }: IfVersion & { readonly restored?: number } = {},
  ): Promise<SavedLook> {
    const found = await current.find(target);
    const before = found?.value.number ?? 0;
    if (ifVersion !== undefined && ifVersion !== before) throw new AppError('branding.changed');
    if (isDeepStrictEqual(look, found?.value.look ?? {})) return read(target);
    await checkPictures(look);
    if (found === undefined && held.size >= MAX_APPLICATIONS) throw new AppError('branding.too_many');
    const record = { look, number: before + 1, at: clock(), by };
    const version: LookVersionRecord = { ...record, target, ...(restored !== undefined && { restored }) };
    try {
      await store.writeTogether((writes) => {
        if (found === undefined) writes.to(looks).insert(target, record);
        else writes.to(looks).replace(target, found.version, record);
        writes.to(lookVersions).insert(versionId(target, record.number), version);
      });
    } catch (error) {
      if (error instanceof VersionConflict || error instanceof AlreadyExists)
        throw new AppError('branding.changed');
      throw error;
    }
    await settings.countLooks();
    await refresh();
    await forgetOld(target);
    return { look, version: record.number, at: record.at, by };
  }

  return {
    lookOf,
    mailTexts: () => held.get('mails')?.mails,
    lookWith: (clientId, look) => (clientId === undefined ? look : merged(held.get('default'), look)),
    iconOf(clientId) {
      const own = held.get(targetOf(clientId));
      return own?.icon ?? own?.logo;
    },
    refresh,
    read,
    save: (target, look, actor, options) => save(target, look, actor, options),
    async versions(target) {
      const found = await versions.findBy('target', target);
      return found
        .map(({ value: { number, look, at, by, restored } }) => ({ number, look, at, by, restored }))
        .reverse();
    },
    async restore(target, number, actor, options) {
      const { version } = await read(target);
      const { ifVersion = version } = options ?? {};
      if (ifVersion !== version) throw new AppError('branding.changed');
      const found = await versions.find(versionId(target, number));
      if (found === undefined) throw new AppError('branding.version_not_found');
      return save(target, found.value.look, actor, { ifVersion, restored: number });
    },
    async forgetClient(clientId) {
      const target = targetOf(clientId);
      const wasThere = await current.remove(target);
      await versions.removeBy('target', target);
      if (wasThere) await settings.countLooks();
      await refresh();
    },
    ofClients: () =>
      [...held].flatMap(([id, look]) =>
        id.startsWith('client:') ? [{ clientId: id.slice('client:'.length), look }] : [],
      ),
  };
}
