// In a draft the protocol core issues tokens as ever, and nothing comes of it: what it stores is kept in memory until the draft
// ends, what it looks up is found there alone, and the signing keys sign nothing. So a preview of tokens runs the code that issues
// them, and no token exists afterwards (index.ts).
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Adapter, AdapterPayload } from 'oidc-provider';

const drafts = new AsyncLocalStorage<Map<string, AdapterPayload>>();

export const runAsDraft = <T>(act: () => Promise<T>): Promise<T> => drafts.run(new Map(), act);

export const isDraft = (): boolean => drafts.getStore() !== undefined;

const draftAdapter = (name: string, records: Map<string, AdapterPayload>): Adapter => ({
  async upsert(id, payload) {
    records.set(`${name} ${id}`, { ...payload });
  },
  find: async (id) => records.get(`${name} ${id}`),
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  async consume(id) {
    const record = records.get(`${name} ${id}`);
    if (record !== undefined) record.consumed = true;
  },
  async destroy(id) {
    records.delete(`${name} ${id}`);
  },
  revokeByGrantId: async () => undefined,
});

/** @returns the adapter, which leaves the store alone in a draft */
export function withDrafts(name: string, stored: Adapter): Adapter {
  const adapter = (): Adapter => {
    const records = drafts.getStore();
    return records === undefined ? stored : draftAdapter(name, records);
  };
  return {
    upsert: (...given) => adapter().upsert(...given),
    find: (...given) => adapter().find(...given),
    findByUid: (...given) => adapter().findByUid(...given),
    findByUserCode: (...given) => adapter().findByUserCode(...given),
    consume: (...given) => adapter().consume(...given),
    destroy: (...given) => adapter().destroy(...given),
    revokeByGrantId: (...given) => adapter().revokeByGrantId(...given),
  };
}
