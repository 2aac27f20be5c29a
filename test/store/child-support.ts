// What the child processes of the store tests share: lines to the parent, which takes each for the store's acknowledgement,
// and writers that run until they are killed.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Collection } from '../../src/store/port.ts';
import { isToBeRemoved, type Note, textOf } from './sqlite-support.ts';

/** Straight to the pipe: a line still in a buffer at the kill would be an acknowledgement that no one saw. */
export const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

// When the parent is gone, so is its end of the pipe: no child outlives a test that failed.
export const input = createInterface({ input: process.stdin });
input.once('close', () => process.exit(1));

/** Creates, consumes and removes notes until it is killed; says how far each one is. */
export async function churn(collection: Collection<Note>, label: string, writers: number): Promise<void> {
  const write = async (writer: number): Promise<never> => {
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
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
}
