// Owns what a process remembers between visits of the overview: figures of times that are over, which never change.
import type { Visit } from './page.ts';

/** The oldest goes first. */
export function createMemory(size: number): Visit['remember'] {
  const known = new Map<string, Promise<unknown>>();
  return async <T>(key: string, find: () => Promise<T>): Promise<T> => {
    // Each key belongs to one place in the code, so what it holds is of that place's type.
    const found = known.get(key) as Promise<T> | undefined;
    if (found !== undefined) return found;
    const finding = find();
    known.set(key, finding);
    // What failed is looked for again.
    finding.catch(() => known.delete(key));
    const [oldest] = known.keys();
    if (known.size > size && oldest !== undefined) known.delete(oldest);
    return finding;
  };
}
