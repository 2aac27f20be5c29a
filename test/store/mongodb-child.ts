// What a child process of the MongoDB tests does: creates, consumes and removes notes until it is killed. It prints
// a line for what is done; the parent takes a line as the store's acknowledgement.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { isToBeRemoved, notes, textOf } from './sqlite-support.ts';

const [uri = '', label = ''] = process.argv.slice(2);
const WRITERS = 4;

// Straight to the pipe: a line that still sat in a buffer at the kill would be an acknowledgement never seen.
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

// When the parent is gone, so is its end of the pipe: no child outlives a test that failed.
createInterface({ input: process.stdin }).once('close', () => process.exit(1));

const store = await createMongoStore({ uri, clock: Date.now, timeoutMs: 20_000 });
const collection = store.collection(notes);

async function churn(writer: number): Promise<never> {
  for (let n = 0; ; n += 1) {
    const id = `${label}-${writer}-${n}`;
    await collection.insert(id, { id, text: textOf(id, 1), tag: 'new' });
    say(`${id} 1`);
    await collection.replace(id, 1, { id, text: textOf(id, 2), tag: 'consumed' });
    say(`${id} 2`);
    if (!isToBeRemoved(id)) continue;
    await collection.remove(id);
    say(`${id} 3`);
  }
}

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => churn(writer)));
