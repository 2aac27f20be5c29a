// What an act wants of a person, from the table of all acts (src/model/acts.ts): no route says it itself.
import { isDeepStrictEqual } from 'node:util';
import { isMembers } from '../../json.ts';
import { type ActSensitivity, ADMIN_ACTS, actIn } from '../../model/acts.ts';
import { membersOf } from '../../model/members.ts';
import type { Sensitivity as MemberSensitivity } from '../../model/row.ts';

/**
 * Whether a person must have authenticated for this within the last five minutes, as strongly as the account allows
 * (decision 0011): acts that grant access, show secrets, or cannot be undone. Programs cannot reauthenticate.
 */
export type Sensitivity =
  | 'plain'
  | 'sensitive'
  | {
      /** For the API's document. */
      readonly when: string;
      readonly is: (input: { readonly query: unknown; readonly body: unknown }) => boolean;
    };

const list = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const isAddress = (value: unknown): boolean => typeof value === 'string' && value.includes('@');

function byMembers({ members, of }: Extract<ActSensitivity, { members: unknown }>): Sensitivity {
  const isNew = of === 'new';
  const table = membersOf(members);
  const at = (wanted: MemberSensitivity): readonly string[] =>
    table.filter(({ sensitivity }) => sensitivity === wanted).map(({ name }) => name);
  const always = isNew
    ? at('sensitive')
    : table.filter((one) => one.sensitivity !== 'plain').map((one) => one.name);
  const addresses = isNew ? at('address') : [];
  if (always.length + addresses.length === 0) return 'plain';
  if (at('sensitive').length === table.length) return 'sensitive';
  const told = [
    ...(always.length > 0 ? [list(always)] : []),
    ...(addresses.length > 0 ? [`an e-mail address as ${list(addresses)}`] : []),
  ].join(' or ');
  return {
    when: `when the body has ${told}${isNew && always.length > 0 ? ' (with what a new one has anyway, it is not)' : ''}`,
    is({ body }) {
      if (!isMembers(body)) return false;
      return table.some(({ name, sensitivity, initial = [] }) => {
        if (!Object.hasOwn(body, name)) return false;
        const value = body[name];
        if (!isNew) return sensitivity !== 'plain';
        if (sensitivity === 'address') return isAddress(value);
        return sensitivity === 'sensitive' && !initial.some((one) => isDeepStrictEqual(one, value));
      });
    },
  };
}

function unless({
  name,
  values,
  why,
}: {
  name: string;
  values: readonly string[];
  why: string;
}): Sensitivity {
  return {
    when: `unless \`${name}\` is ${values.map((value) => `\`${value}\``).join(', ')}, ${why}`,
    is: ({ query }) => !(isMembers(query) && values.includes(String(query[name]))),
  };
}

/** @throws TypeError for a change that the table does not have */
export function sensitivityOf({
  method,
  path,
}: {
  readonly method: string;
  readonly path: string;
}): Sensitivity {
  const name = `${method} ${path}`;
  const act: ActSensitivity | undefined = actIn<ActSensitivity>(ADMIN_ACTS, name);
  if (act === undefined) {
    if (method === 'GET') return 'plain';
    throw new TypeError(`src/model/acts.ts does not say how sensitive ${name} is`);
  }
  if (typeof act === 'string') return act;
  return 'members' in act ? byMembers(act) : unless(act.unless);
}
