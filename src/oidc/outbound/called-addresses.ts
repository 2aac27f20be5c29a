// Reports to administrators which addresses of an application this server could not call, and what would open them (decision 0021). Only to administrators: to the one who registers it would say which names and addresses there are inside.
import { type CalledMember, calledAddresses, calledMembers, isApprovedAddress } from '../../clients/index.ts';
import type { ClientRecord } from '../../store/collections.ts';
import type { Outbound } from './outbound.ts';

export interface CalledAddress {
  readonly name: CalledMember;
  readonly uri: string;
  readonly isApproved: boolean;
  /** Why it cannot be called; absent: it can, as far as this server can tell without calling it. */
  readonly problem?: string;
  /** What would open it; absent where nothing would. */
  readonly remedy?: string;
}

/** @returns every address that this server calls for the application */
export type ReadCalledAddresses = (record: ClientRecord) => Promise<CalledAddress[]>;

export const createReadCalledAddresses =
  ({ whyUnreachable }: Pick<Outbound, 'whyUnreachable'>): ReadCalledAddresses =>
  (record) =>
    Promise.all(
      calledAddresses(record).map(async ({ name, uri }) => {
        const isApproved = isApprovedAddress(record, uri);
        const use = calledMembers[name];
        return { name, uri, isApproved, ...(await whyUnreachable(uri, { use, isApproved })) };
      }),
    );
