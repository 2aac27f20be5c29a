// Names that programs which nobody vouched for may not have: this server's, and those of the applications that administrators
// answer for (decision 0026). Compared by how they look, since a person reads them.
import { isOneAlphabetByWord } from '../alphabets.ts';
import { looksLike } from '../skeleton.ts';
import type { AgentDoors } from './doors.ts';

const PAGE = 1000;

/** @returns why the name is refused */
export type NameProblem = (name: string) => Promise<string | undefined>;

export const createNameProblem =
  ({ clients, settings }: AgentDoors): NameProblem =>
  async (name) => {
    const ours = [settings().product_name, 'Latchkey'];
    if (ours.some((own) => looksLike(name, own, true))) return 'Its name is one of this server.';
    for (let offset = 0; ; offset += PAGE) {
      const { items } = await clients.query({
        sort: 'id',
        order: 'asc',
        limit: PAGE,
        offset,
        isCounted: false,
      });
      const isTaken = items.some(
        ({ value: { quarantine, metadata } }) =>
          quarantine === undefined && looksLike(name, String(metadata.client_name ?? '')),
      );
      if (isTaken) return 'Its name is that of another application here.';
      if (items.length < PAGE) break;
    }
    // No list has all letters that look like another alphabet's.
    return isOneAlphabetByWord(name)
      ? undefined
      : 'Its name is of letters of several alphabets, or of one that is hardly in use.';
  };
