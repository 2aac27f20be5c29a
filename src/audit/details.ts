// What may be written into an event's details: no secret, whatever it is called and however deep it lies, and no
// more than a reader can use (checklist R147, R148). A second line: who writes an event puts no secret into it.

const MAX_DEPTH = 5;
const MAX_TEXT = 512;
const MAX_READ = 4096;
const MAX_ITEMS = 50;
const MAX_MEMBERS = 100;
const MAX_BYTES = 16_384;

// The last word of a name says what the thing is: client_secret, passwordHash, smtp_password, code; but
// password_changed_at is a time and access_token_seconds a number.
const secretNames =
  /(?:^|_)(?:secret|password|passwd|passphrase|pass|token|code|pin|otp|assertion|ticket|cookie|authorization|credential|hash|digest|salt|signature|verifier|jwt|jws|jwe|private_key|api_key|bearer|csrf|nonce)s?$/;
const sealedNames = /(?:^|_)sealed_/;
/** Private members of a JWK (RFC 7518 §6). */
const privateKeyMembers: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']);

const toSnakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();

function isSecret(name: string, value: unknown, isJwk: boolean): boolean {
  if (isJwk && privateKeyMembers.has(name)) return true;
  // A switch or an amount is no secret, whatever it is about.
  if (typeof value === 'boolean' || typeof value === 'number' || value === null) return false;
  const spelt = toSnakeCase(name.slice(0, 256));
  return secretNames.test(spelt) || sealedNames.test(spelt);
}

// `Bearer …`, JSON Web Tokens, and the user part of an address (smtp://user:password@host).
const bearers = /\b(?:Bearer|Basic|DPoP) +[\w.~+/=-]{8,}/gi;
const jsonWebTokens = /\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g;
const userParts = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@]{1,512}@/gi;

function cleanText(text: string): string {
  // Looked at before it is cut to size, or half a token would no longer look like one.
  const cleaned = text
    .slice(0, MAX_READ)
    .replace(bearers, '[removed]')
    .replace(jsonWebTokens, '[removed]')
    .replace(userParts, '$1[removed]@');
  return cleaned.length > MAX_TEXT || text.length > MAX_READ ? `${cleaned.slice(0, MAX_TEXT)}…` : cleaned;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'boolean' || typeof value === 'number' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => clean(item, depth + 1));
  if (typeof value !== 'object') return undefined;
  return cleanMembers(value, depth);
}

function cleanMembers(value: object, depth: number): Record<string, unknown> {
  const isJwk = 'kty' in value;
  const kept = Object.entries(value)
    .filter(([name, member]) => member !== undefined && !isSecret(name, member, isJwk))
    .slice(0, MAX_MEMBERS)
    .map(([name, member]) => [cleanText(name), clean(member, depth + 1)]);
  return Object.fromEntries(kept);
}

/** @returns a copy without secrets and of bounded size */
export function withoutSecrets(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const cleaned = cleanMembers(details, 0);
  const isTooLarge = Buffer.byteLength(JSON.stringify(cleaned)) > MAX_BYTES;
  return isTooLarge ? { is_shortened: true, members: Object.keys(cleaned) } : cleaned;
}

/**
 * @returns what differs between two views of a thing, each side with the members that differ only; undefined when
 *   nothing does
 */
export function differenceOf(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { before: Record<string, unknown>; after: Record<string, unknown> } | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const side = (view: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(names.map((name) => [name, view[name] ?? null]));
  return names.length === 0 ? undefined : { before: side(before), after: side(after) };
}
