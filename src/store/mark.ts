// The mark of a store: which model it has, which version wrote last, and how old a version may be that writes to it (decision 0041). A
// document in `facts`, so that no store needs anything new for it, and a copy of the store takes it along.
import type { Clock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import { OLDEST_WRITER, STORE_MODEL } from '../model/store-model.ts';
import { facts, settings, signingKeys } from './collections.ts';
import { AlreadyExists, type CollectionDefinition, type Store } from './port.ts';
import { update } from './update.ts';

export interface MarkRecord {
  /** The newest model that has written here. */
  readonly model: number;
  /** The version that wrote last, for people. */
  readonly version: string;
  /** Versions of older models refuse to start. */
  readonly oldestWriter: number;
  /** The model with which the installation began: defaults that changed later are as they were for it. */
  readonly born: number;
  readonly at: number;
}

const MARK_ID = 'model';

const marks: CollectionDefinition<MarkRecord> = {
  name: facts.name,
  durability: 'durable',
  indexes: {},
  fields: {},
};

/** What an unreleased version wrote down before the first key of a new installation. */
const FORMER_DEFAULTS = 'former_defaults';

interface Deps {
  readonly store: Pick<Store, 'collection'>;
  readonly clock: Clock;
  readonly version: string;
}

/** An installation that has started once has a signing key; a new one gets its mark before its first key. */
async function bornAs({ store }: Deps): Promise<number> {
  const keys = await store
    .collection(signingKeys)
    .query({ sort: 'created_at', order: 'asc', limit: 1, isCounted: false });
  const [oldest] = keys.items;
  if (oldest === undefined) return STORE_MODEL;
  const former = await store.collection(settings).find(FORMER_DEFAULTS);
  if (former === undefined || oldest.value.createdAt < former.value.updatedAt) return 0;
  await update(store.collection(settings), 'current', (value) =>
    value.model === undefined ? { value: { ...value, model: STORE_MODEL } } : undefined,
  );
  return STORE_MODEL;
}

const refusal = ({ version, oldestWriter }: MarkRecord, own: string): OperatorError =>
  new OperatorError(
    `This database was last written by version ${version}, beside which no version before model ${oldestWriter} may write, and this is ` +
      `version ${own} (model ${STORE_MODEL}): it would drop what it does not know. Start version ${version} or a later one; nothing was changed.`,
  );

/** @throws OperatorError when this version is too old for the store */
export async function checkMark({ store, version }: Deps): Promise<void> {
  const found = await store.collection(marks).find(MARK_ID);
  if (found !== undefined && found.value.oldestWriter > STORE_MODEL) throw refusal(found.value, version);
}

/**
 * For who takes everything along that this version knows: a newer version has written what it doesn't.
 * @throws OperatorError
 */
export async function checkKnown({ store, version }: Pick<Deps, 'store' | 'version'>): Promise<void> {
  const found = await store.collection(marks).find(MARK_ID);
  if (found === undefined || found.value.model <= STORE_MODEL) return;
  throw new OperatorError(
    `This database was written by version ${found.value.version} (model ${found.value.model}), and this is version ${version} (model ` +
      `${STORE_MODEL}): what it does not know would be missing in the copy. Use a version of that model; nothing was copied.`,
  );
}

/**
 * Every process that will write calls it before it does.
 * @throws OperatorError when this version is too old for the store
 * @throws StoreUnavailable
 */
export async function enterStore(deps: Deps): Promise<MarkRecord> {
  const { store, clock, version } = deps;
  const collection = store.collection(marks);
  for (;;) {
    const found = await collection.find(MARK_ID);
    if (found === undefined) {
      const first: MarkRecord = {
        model: STORE_MODEL,
        version,
        oldestWriter: OLDEST_WRITER,
        born: await bornAs(deps),
        at: clock(),
      };
      try {
        return (await collection.insert(MARK_ID, first)).value;
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
        continue;
      }
    }
    const entered = await update(collection, MARK_ID, (mark) => {
      if (mark.oldestWriter > STORE_MODEL) throw refusal(mark, version);
      const next = {
        // A newer version may have written more here.
        ...mark,
        model: Math.max(mark.model, STORE_MODEL),
        oldestWriter: Math.max(mark.oldestWriter, OLDEST_WRITER),
        version,
      };
      const isSame = next.model === mark.model && next.version === mark.version;
      return isSame && next.oldestWriter === mark.oldestWriter
        ? undefined
        : { value: { ...next, at: clock() } };
    });
    if (entered !== undefined) return entered.value;
  }
}
