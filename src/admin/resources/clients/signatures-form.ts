// What is signed for an application, and how, on its page.
import { tokenSigningAlgorithms } from '../../../clients/index.ts';
import { textOrNull } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';

const [usual] = tokenSigningAlgorithms;
const signedWith = tokenSigningAlgorithms.map((alg) => ({ value: alg, label: `Signed with ${alg}` }));

/** The fields in their order, each with its choices; the first choice is the default. */
export const signatureFields = [
  {
    name: 'id_token_signed_response_alg',
    label: 'ID tokens',
    hint: 'Its logout tokens, too. Access tokens are signed with RS256 whatever this says.',
    choices: signedWith,
  },
  {
    name: 'userinfo_signed_response_alg',
    label: 'Userinfo answers',
    hint: 'A signed answer proves to others that it came from here.',
    choices: [{ value: '', label: 'JSON, not signed' }, ...signedWith],
  },
  {
    name: 'authorization_signed_response_alg',
    label: 'Authorization responses',
    hint: 'Only where the application asks for it by a response mode with jwt (JARM).',
    choices: [{ value: '', label: 'Not signed' }, ...signedWith],
  },
];

/** The values of the form. */
export const signatureValues = (client: Values): Values => ({
  id_token_signed_response_alg: client.id_token_signed_response_alg ?? usual,
  userinfo_signed_response_alg: client.userinfo_signed_response_alg ?? '',
  authorization_signed_response_alg: client.authorization_signed_response_alg ?? '',
});

/** Converts the form's values to the API's; nothing where the form had no such part. */
export function signatureBody(textIn: (name: string) => string | undefined): Values {
  if (textIn('has_signatures') !== 'on') return {};
  return Object.fromEntries(signatureFields.map(({ name }) => [name, textOrNull(textIn(name))]));
}
