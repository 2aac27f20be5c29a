// What the identifier of an API may be (RFC 8707 §2), and how scopes name it (decision 0026).

const MAX_LENGTH = 500;
// RFC 3986 §2, in ASCII, so that no two of them look the same.
const URI_CHARACTERS = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/[\]@!$&'()*+,;=-]+$/;

/** @returns what is wrong with it, or undefined */
export function identifierProblem(identifier: string): string | undefined {
  if (identifier.length > MAX_LENGTH) return `Must not be longer than ${MAX_LENGTH} characters.`;
  if (identifier.includes('#')) return 'Must not have a fragment (“#”).';
  if (identifier.includes('?')) return 'Must not have a query (“?”).';
  if (identifier.includes('%')) return 'Must not have percent-encoded characters (“%”).';
  const url = URL.parse(identifier);
  if (url === null || !URI_CHARACTERS.test(identifier)) {
    return 'Must be an absolute URI, such as https://api.example.com or urn:example:api.';
  }
  if (url.username !== '' || url.password !== '') return 'Must not have a user name or password.';
  // Compared as text, `HTTPS://API.example` and `https://api.example/a/../b` are not the addresses that they look like.
  if (url.href !== identifier && url.href !== `${identifier}/`) return `Must be written as ${url.href}`;
  return undefined;
}

/**
 * @param word a scope as Microsoft's libraries write it, `{identifier}/{name}` or `{identifier}/.default`
 * @returns its parts, split at the last slash and not decoded; undefined for a plain name
 */
export function splitScope(word: string): { readonly identifier: string; readonly name: string } | undefined {
  const at = word.lastIndexOf('/');
  return at < 0 ? undefined : { identifier: word.slice(0, at), name: word.slice(at + 1) };
}
