// The addresses that this server calls for an application, with what keeps it from them, as JSON.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Object as ObjectSchema,
  String as StringSchema,
} from 'typebox';
import { calledMemberNames } from '../../../clients/index.ts';
import type { CalledAddress } from '../../../oidc/index.ts';
import { nullable, strict } from '../../api/schema-parts.ts';

/** Members of a client without which nothing about its called addresses changes. */
export const calledAddressMembers: readonly string[] = [...calledMemberNames, 'approved_addresses'];

const addressSchema = ObjectSchema(
  {
    name: Enum([...calledMemberNames], {
      description: 'The member of the application.',
    }),
    uri: StringSchema({ description: 'Its value.' }),
    is_approved: BooleanSchema({ description: 'Whether an administrator entered or approved it.' }),
    problem: nullable(StringSchema(), { description: 'Why this server cannot call it; null: it can.' }),
    remedy: nullable(StringSchema(), { description: 'What would open it; null: nothing would.' }),
  },
  { ...strict, description: 'An address that this server calls.' },
);

export const addressesSchema = (description: string) => ArraySchema(addressSchema, { description });

export const showAddress = ({ name, uri, isApproved, problem, remedy }: CalledAddress) => ({
  name,
  uri,
  is_approved: isApproved,
  problem: problem ?? null,
  remedy: remedy ?? null,
});
