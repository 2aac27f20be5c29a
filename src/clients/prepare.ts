// Turns metadata into what is stored: our rules, then the protocol core's schema, then only known members.
import type { ClientMetadata } from '../store/collections.ts';
import { refusal } from './application.ts';
import { type Authority, checkMetadata, isMemberName, memberNames, sentence } from './metadata-rules.ts';

export type ValidateMetadata = (metadata: ClientMetadata) => Promise<ClientMetadata>;

/** Of RFC 7591: the protocol core's schema does not know them. */
const DESCRIPTIVE = ['software_id', 'software_version'] as const;

interface SchemaError {
  readonly error: string;
  readonly error_description?: unknown;
}

const isSchemaError = (error: unknown): error is SchemaError =>
  error instanceof Error &&
  'error' in error &&
  (error.error === 'invalid_client_metadata' || error.error === 'invalid_redirect_uri');

/**
 * @param input unvalidated members, by wire name
 * @returns what to store: known members, normalised by the protocol core's schema
 * @throws AppError client.invalid_metadata with `fields` by member name
 */
export async function prepareMetadata(
  clientId: string,
  input: Readonly<Record<string, unknown>>,
  authority: Authority,
  validateMetadata: ValidateMetadata,
): Promise<ClientMetadata> {
  const { metadata, problems } = checkMetadata(input, authority);
  if (Object.keys(problems).length > 0) throw refused(problems);
  try {
    const valid = { ...(await validateMetadata({ ...metadata, client_id: clientId })) };
    for (const name of DESCRIPTIVE) valid[name] ??= metadata[name];
    const kept = memberNames.filter((name) => valid[name] !== undefined).map((name) => [name, valid[name]]);
    return { ...Object.fromEntries(kept), client_id: clientId };
  } catch (cause) {
    if (!isSchemaError(cause)) throw cause;
    throw refused(fieldOf(cause), cause);
  }
}

/** @returns `after` with the members of `stored` that a newer version knows (src/store/unknown-members.ts) */
export const withUnknownMembers = (stored: ClientMetadata, after: ClientMetadata): ClientMetadata => ({
  ...Object.fromEntries(Object.entries(stored).filter(([name]) => !isMemberName(name))),
  ...after,
});

/** Problems are predicates ("must be …"); here they become sentences. */
const refused = (problems: Readonly<Record<string, string>>, cause?: unknown) =>
  refusal(Object.fromEntries(Object.entries(problems).map(([name, one]) => [name, sentence(one)])), cause);

/** The schema's messages start with or contain the member's name; ours are keyed by it. */
function fieldOf({ error, error_description }: SchemaError): Record<string, string> {
  const text = typeof error_description === 'string' ? error_description : 'is not valid';
  if (error === 'invalid_redirect_uri') return { redirect_uris: text };
  const [first = '', ...rest] = text.split(' ');
  if (isMemberName(first)) return { [first]: rest.join(' ') };
  if (text.includes('Key Set')) return { jwks: text };
  return { metadata: text };
}
