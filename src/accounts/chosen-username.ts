// What a username must be besides, where its owner chooses it alone (sign-up, an invitation, a change of one's own): no mixture of
// alphabets, which imitates others' names (UTS #39 §5.2 "highly restrictive", §5.3), and nothing that reads as this system's
// (decision 0014). Administrators may create any; accounts that have such a name keep it.
import { isOneAlphabet } from '../alphabets.ts';
import { reservedNames } from '../model/reserved-names.ts';
import { parseUsername } from '../model/users/username.ts';
import { skeletonOf } from '../skeleton.ts';

const reserved = new Set(reservedNames.map(skeletonOf));

/** Shorter ones are in too many words. */
const MIN_PART = 5;
const MIN_WORD = 4;

/** Whether a part and what is beside it are too long to stand in another word by chance. */
const isEnough = (part: string, beside: string): boolean =>
  part.length >= MIN_PART || (part.length >= MIN_WORD - 1 && beside.length >= MIN_WORD);

/** Every way to part it in two. */
const partings = (look: string): [string, string][] =>
  Array.from(look, (_, at): [string, string] => [look.slice(0, at), look.slice(at)]);

/** @param own the skeletons of this installation's names */
function isReserved(name: string, own: readonly string[]): boolean {
  const isOurs = (look: string): boolean => reserved.has(look) || own.includes(look);
  // As it is (`r00t`), and word by word: `admin-1`, `support.team`. Numbers alone are nobody's.
  const words = name
    .split(/[._+-]+/u)
    .map((word) => skeletonOf(word.replace(/^\p{Nd}+|\p{Nd}+$/gu, '')))
    .filter((look) => look !== '');
  const look = skeletonOf(name);
  if (isOurs(look) || (words.length > 0 && words.every(isOurs))) return true;
  // Written together: `supportteam`, and before or behind this installation's name, `latchkeysupport`.
  return partings(look).some(
    ([one, other]) =>
      (reserved.has(one) && reserved.has(other) && Math.min(one.length, other.length) >= MIN_WORD) ||
      (own.includes(one) && isEnough(one, other) && isOurs(other)) ||
      (own.includes(other) && isEnough(other, one) && isOurs(one)),
  );
}

/**
 * @param ours names of this installation
 * @returns a description of the problem for the user; it says nothing of other accounts, so it comes before whether the name is taken
 */
export function problemOfChosenUsername(text: string, ours: readonly string[]): string | undefined {
  const parsed = parseUsername(text);
  if ('problem' in parsed) return parsed.problem;
  // An address is its owner's, whatever it reads as: `support@example.com`.
  if (parsed.name.includes('@')) return undefined;
  if (!isOneAlphabet(parsed.name)) return 'Must have letters and digits of one alphabet in common use.';
  const own = [...ours, 'Latchkey'].map(skeletonOf).filter((word) => word !== '');
  return isReserved(parsed.name, own) ? 'This name is reserved. Choose another one.' : undefined;
}
