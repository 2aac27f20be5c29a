// What the form of a user asks, and what the page of one tells of the person: by the rows.
import type { User } from '../../../accounts/index.ts';
import type { Row } from '../../../model/row.ts';
import { addressRows } from '../../../model/users/address-rows.ts';
import type { UserFacts } from '../../../model/users/facts.ts';
import { userRows } from '../../../model/users/rows.ts';
import { textOrNull } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';

type Named = readonly [name: string, row: Pick<Row<unknown>, 'label' | 'hint' | 'kind'>];

const asked: readonly Named[] = Object.entries<Row<unknown> & UserFacts>(userRows).filter(
  ([, row]) => row.asked === 'form',
);
const linesOfAddress = Object.entries(addressRows).map(([name, row]): Named => [`address.${name}`, row]);

export const formFields = asked
  .flatMap((one) => (one[0] === 'address' ? linesOfAddress : [one]))
  .map(
    ([
      name,
      {
        label,
        hint,
        kind: { control },
      },
    ]) => ({ name, label, hint: hint ?? '', control, type: control === 'email' ? control : 'text' }),
  );

export const formLabels = Object.fromEntries(formFields.map(({ name, label }) => [name, label]));

/** The stored values, as the form would submit them. */
export function storedIn(user: User): Readonly<Record<string, string>> {
  const lines = Object.entries(user.address ?? {}).map(([name, line]) => [`address.${name}`, line] as const);
  const values = new Map<string, unknown>([...Object.entries(user), ...lines]);
  return Object.fromEntries(
    formFields.map(({ name, control }) => {
      const value = values.get(name);
      return [name, control === 'check' ? (value === true ? 'on' : '') : String(value ?? '')] as const;
    }),
  );
}

/** The form's values as the API has them. @param isGiven whether a field is said at all */
export function bodyOf(
  textIn: (name: string) => string | undefined,
  isGiven: (name: string) => boolean,
): Values {
  const body: Record<string, unknown> = {};
  const address: Record<string, unknown> = {};
  for (const { name, control } of formFields.filter((field) => isGiven(field.name))) {
    const text = textIn(name);
    const [outer, line] = name.split('.');
    if (line !== undefined) address[line] = textOrNull(text);
    else if (outer !== undefined)
      body[outer] =
        control === 'check' ? text === 'on' : outer === 'username' ? (text ?? '').trim() : textOrNull(text);
  }
  return { ...body, ...(Object.keys(address).length > 0 && { address }) };
}

/** Of the person, what there is. */
export const personalFacts = (user: User) => {
  const values = storedIn(user);
  return formFields.flatMap(({ name, label, control }) => {
    const value = values[name] ?? '';
    return control === 'check' || value === '' || name === 'username' || name === 'email'
      ? []
      : [{ label, value }];
  });
};
