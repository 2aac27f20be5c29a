// What killed writers (`churn` in child-support.ts) leave in a store, compared with what was acknowledged to them (C15).
import assert from 'node:assert/strict';
import type { Collection, Stored } from '../../src/store/port.ts';
import { type Child, isToBeRemoved, type Note, textOf } from './sqlite-support.ts';

const REMOVED = 3;

/** @returns how far each note was when the last acknowledgement about it was given */
export function acknowledged(children: readonly Child[]): Map<string, number> {
  const lines = children.flatMap((child) => child.lines.map((line) => line.split(' ')));
  return new Map(lines.map(([id = '', step]) => [id, Number(step)]));
}

async function readAll(collection: Collection<Note>): Promise<Map<string, Stored<Note>>> {
  const found = new Map<string, Stored<Note>>();
  for (let after: { sortValue: undefined; id: string } | undefined; ; ) {
    const { items } = await collection.query({ sort: 'id', order: 'asc', limit: 1000, after });
    for (const stored of items) found.set(stored.id, stored);
    const last = items.at(-1);
    if (!last) return found;
    after = { sortValue: undefined, id: last.id };
  }
}

function checkStep(id: string, step: number, stored: Stored<Note> | undefined): void {
  // The one write in progress at the kill may have happened or not.
  const possible = [step, step + 1];
  if (stored)
    assert.ok(possible.includes(stored.version), `${id}: version ${stored.version} after step ${step}`);
  else assert.ok(possible.includes(REMOVED) && isToBeRemoved(id), `${id}: lost after step ${step}`);
}

/** Every acknowledged write is there; every other one is there whole or not at all, in the index as well. */
export async function assertAcknowledged(
  collection: Collection<Note>,
  steps: ReadonlyMap<string, number>,
): Promise<void> {
  const found = await readAll(collection);
  for (const [id, step] of steps) checkStep(id, step, found.get(id));
  for (const [id, stored] of found) {
    checkStep(id, steps.get(id) ?? 0, stored);
    const tag = stored.version === 1 ? 'new' : 'consumed';
    assert.deepEqual(stored.value, { id, text: textOf(id, stored.version), tag });
  }
  for (const tag of ['new', 'consumed']) {
    const indexed = (await collection.findBy('tag', tag)).map(({ id }) => id);
    const expected = [...found.values()].filter(({ value }) => value.tag === tag).map(({ id }) => id);
    assert.deepEqual(indexed, expected, `index of ${tag}`);
  }
}
