// `npm run copy-store`: moves an installation from the embedded database to MongoDB, or to MongoDB and Redis.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../adapters/index.ts';
import { createMongoLoader } from '../adapters/mongodb/loader.ts';
import { createSqliteStore } from '../adapters/sqlite/store.ts';
import { ConfigError, loadConfig } from '../src/config/load.ts';
import type { Config } from '../src/config/types.ts';
import { fixableProblem } from '../src/process/fixable-problem.ts';
import {
  createProgress,
  INTERRUPTED,
  Interrupted,
  type Progress,
  stopOnSignals,
  unlessStopped,
} from '../src/process/progress.ts';
import { version } from '../src/process/version.ts';
import { facts } from '../src/store/collections.ts';
import { checkKnown } from '../src/store/mark.ts';
import { type CollectionDefinition, type Store, type Stored, StoreUnavailable } from '../src/store/port.ts';
import { isHelpAsked, runCommand, UsageError } from './command-line.ts';
import {
  COPY_MARK,
  CopyDiffers,
  copiedCollections,
  copyCollection,
  countAll,
  digestOfAll,
  type Target,
  verifyCollection,
  type Watch,
} from './copy/copy-collections.ts';
import { findEmbedded } from './embedded-database.ts';

const HELP = `Copies everything from the embedded database to MongoDB, and checks the copy.

Usage: npm run copy-store

  DATA_DIR=./data MONGODB_URI=mongodb://… SECRET_KEY="$(cat ./data/secret.key)" npm run copy-store

With REDIS_URL, what is short-lived goes to Redis. Stop the server first, and leave it stopped until this has ended. The
database must be empty, or contain an interrupted copy, which is then continued. The embedded database stays
as it is. Afterwards start the server with the same MONGODB_URI, REDIS_URL and SECRET_KEY. Ctrl-C stops it after the step that
runs; the same command continues.

Exit codes: 0 copied and verified, 1 something went wrong, 2 invalid options, 130 stopped by Ctrl-C.`;

const START_OVER =
  `Stop the server, empty the database (mongosh "$MONGODB_URI" --eval 'db.dropDatabase()'; with REDIS_URL that Redis, too: ` +
  'redis-cli -u "$REDIS_URL" flushdb) and run this again.';

/** A precondition that is not met, with a message for the operator. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** Data that is sealed with the embedded database's key cannot be opened with another one. */
function checkKey({ dataDir, secretKeys }: Config): void {
  const file = join(dataDir, 'secret.key');
  if (!existsSync(file)) return;
  if (secretKeys.includes(readFileSync(file, 'utf8').trim())) return;
  throw new Refused(
    `SECRET_KEY does not contain the key in ${file}, so nothing that is sealed could be opened. ` +
      'Set SECRET_KEY to it, or to a list with a newer key in front of it.',
  );
}

async function openTarget(config: Config, clock: () => number): Promise<Target & { close(): Promise<void> }> {
  const { mongodbUri: uri, redisUrl } = config;
  if (uri === undefined)
    throw new UsageError('MONGODB_URI is not set. It names the MongoDB that everything is copied to.');
  const store = await openStore({ config, clock });
  const isInRedis = ({ durability }: CollectionDefinition<never>): boolean =>
    redisUrl !== undefined && durability === 'ephemeral';
  const definitions = copiedCollections.filter((definition) => !isInRedis(definition));
  const loader = await createMongoLoader({ uri, clock, definitions });
  const put = async <T>(definition: CollectionDefinition<T>, { id, value, expiresAt }: Stored<T>) => {
    await store.ephemeral(definition).put(id, value, { expiresAt });
  };
  return {
    store,
    pagesOf: (definition) => (isInRedis(definition) ? undefined : loader.pagesOf(definition)),
    async load(definition, documents) {
      if (!isInRedis(definition)) return loader.load(definition, documents);
      for (const stored of documents) await put(definition, stored);
    },
    async close() {
      await loader.close();
      await store.close();
    },
  };
}

const RUNNING = 'running';

const CONTINUE =
  'Leave the server stopped and run the same command again: it continues. Until then nothing uses the copy; the embedded ' +
  'database is as it was.';

interface Shown {
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** How much is known to be in the copy. */
interface Reached {
  written: number;
  total: number;
}

/** @returns the error of a target that went away half-way, with what is whole and how to continue; any other unchanged */
function withAdvice(error: unknown, { written, total }: Reached): unknown {
  if (!(error instanceof StoreUnavailable) || !/^(?:MongoDB|Redis)\b/.test(error.message)) return error;
  const problem = (fixableProblem(error) ?? error.message).replace(/[^.?!]$/, '$&.');
  const done =
    written === 0
      ? 'Nothing is known to be copied'
      : `At least ${written} of ${total} documents are in the copy`;
  return new Refused(`${problem} ${done}. ${CONTINUE}`);
}

/**
 * Starts a copy or resumes one.
 * @param sourceAt the embedded database as it was at that time
 * @throws Refused when the target is in use, or contains a copy of another state
 */
async function claim(
  target: Target,
  { at, sourceAt }: { at: number; sourceAt: (at: number) => Store },
  { progress, signal }: Shown,
): Promise<void> {
  const watch: Watch = {
    say: (count) => progress.update('Reading the embedded database', count, 0),
    check() {
      if (signal.aborted) throw new Interrupted(`Stopped before anything was copied. ${CONTINUE}`);
    },
  };
  const digestAt = async (time: number): Promise<string> => {
    const source = sourceAt(time);
    try {
      return `${RUNNING} ${await digestOfAll(source, watch)}`;
    } finally {
      await source.close();
    }
  };
  const marks = target.store.collection(facts);
  const mark = (await marks.find(COPY_MARK))?.value;
  if (mark?.value === 'done') {
    throw new Refused(
      'The target database contains a finished copy and may be in use. Copy into an empty one.',
    );
  }
  if (mark !== undefined) {
    // What was removed since would remain in the copy: a revoked token, an ended session.
    const isSame = mark.value === RUNNING || mark.value === (await digestAt(mark.at));
    if (isSame) return;
    throw new Refused(`The embedded database has changed since this copy was started. ${START_OVER}`);
  }
  for (const definition of copiedCollections) {
    for await (const page of target.pagesOf(definition) ?? []) {
      if (page.length === 0) continue;
      throw new Refused(`The target database is not empty (${definition.name}). Copy into an empty one.`);
    }
  }
  await marks.insert(COPY_MARK, { at, value: await digestAt(at) });
}

async function copyAll(
  { source, target, at }: { source: Store; target: Target; at: number },
  { progress, signal }: Shown,
  reached: Reached,
): Promise<void> {
  const counts = await countAll(source);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  reached.total = total;
  let before = 0;
  const watch = (what: string): Watch => ({
    say(count) {
      if (what === 'Copying') reached.written = before + count;
      progress.update(what, before + count, total);
    },
    check() {
      if (!signal.aborted) return;
      const done = `${reached.written} of ${total} documents are in the copy, each of them whole`;
      throw new Interrupted(`Stopped: ${done}${what === 'Copying' ? '' : ', not all verified'}. ${CONTINUE}`);
    },
  });
  progress.update('Copying', 0, total);
  for (const definition of copiedCollections) {
    await copyCollection(source, target, definition, watch('Copying'));
    const count = counts.get(definition.name) ?? 0;
    before += count;
    if (count > 0) progress.say(`${definition.name}: ${count} copied`);
  }
  before = 0;
  progress.update('Verifying', 0, total);
  for (const definition of copiedCollections) {
    const { name, count, digest } = await verifyCollection(source, target, definition, watch('Verifying'));
    before += count;
    if (count > 0) progress.say(`${name}: ${count} verified, sha256 ${digest.slice(0, 16)}`);
  }
  await target.store.collection(facts).put(COPY_MARK, { at, value: 'done' });
  progress.say(
    `${before} documents copied and verified. Start the server with this MONGODB_URI and SECRET_KEY.`,
  );
}

async function main(): Promise<void> {
  const file = findEmbedded();
  const config = loadConfig(process.env);
  // One point in time for both sides: nothing may expire between copying and comparing.
  const at = Date.now();
  checkKey(config);
  const progress = createProgress({ unit: 'documents' });
  const stopping = stopOnSignals((text) => progress.say(text));
  const { signal } = stopping;
  const reached: Reached = { written: 0, total: 0 };
  const line = process.stdout.isTTY ? progress : undefined;
  const log = { warn: (_: object, text: string) => progress.say(text), info: () => undefined };
  const sourceAt = (time: number): Store =>
    createSqliteStore({ file, clock: () => time, definitions: copiedCollections, log, line });
  try {
    progress.update('Opening the embedded database', 0, 0);
    const source = sourceAt(at);
    try {
      await checkKnown({ store: source, version });
      progress.update('Connecting to the databases', 0, 0);
      const opening = openTarget(config, () => at);
      const target = await unlessStopped(opening, signal, `Stopped before anything was copied. ${CONTINUE}`);
      try {
        await claim(target, { at, sourceAt }, { progress, signal });
        await copyAll({ source, target, at }, { progress, signal }, reached);
      } catch (error) {
        throw withAdvice(error, reached);
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  } finally {
    progress.end();
    stopping.release();
  }
}

await runCommand(async () => {
  if (isHelpAsked(process.argv.slice(2))) {
    console.log(HELP);
    return undefined;
  }
  try {
    await main();
    return undefined;
  } catch (error) {
    if (error instanceof CopyDiffers)
      throw new Refused(`${error.message}. Was the server running? ${START_OVER}`);
    if (!(error instanceof Interrupted)) throw error;
    console.error(error.message);
    // Without waiting for a database that does not answer.
    return process.exit(INTERRUPTED);
  }
}, [ConfigError, Refused]);
