// The addresses that this server calls for an application, with what keeps it from them, as JSON.
import { calledMemberNames } from '../../../clients/index.ts';
import type { CalledAddress } from '../../../oidc/index.ts';
import { array, boolean, object, oneOf, string, stringOrNull } from '../../api/schema-parts.ts';

/** Members of a client without which nothing about its called addresses changes. */
export const calledAddressMembers: readonly string[] = [...calledMemberNames, 'approved_addresses'];

const addressSchema = object(
  {
    name: oneOf([...calledMemberNames], 'The member of the application.'),
    uri: string('Its value.'),
    is_approved: boolean('Whether an administrator entered or approved it.'),
    problem: stringOrNull('Why this server cannot call it; null: it can.'),
    remedy: stringOrNull('What would open it; null: nothing would.'),
  },
  'An address that this server calls.',
);

export const addressesSchema = (description: string) => array(addressSchema, description);

export const showAddress = ({ name, uri, isApproved, problem, remedy }: CalledAddress) => ({
  name,
  uri,
  is_approved: isApproved,
  problem: problem ?? null,
  remedy: remedy ?? null,
});
