// Removes secrets from the details of events, by name and by form, at any depth, and limits their size.
// This is a second defence: the code that records an event must not include secrets.

const MAX_DEPTH = 5;
const MAX_TEXT = 512;
const MAX_READ = 4096;
const MAX_ITEMS = 50;
const MAX_MEMBERS = 100;
const MAX_BYTES = 16_384;

// The last word of a name says what the value is: client_secret, passwordHash, smtp_password and code are secrets,
// but password_changed_at is a time, access_token_seconds a number, and rotate_refresh_tokens a choice.
const secretNames =
  /(?:^|(?<!^rotate_refresh)_)(?:secret|password|passwd|passphrase|pass|token|code|pin|otp|assertion|ticket|cookie|authorization|credential|hash|digest|salt|signature|verifier|jwt|jws|jwe|private_key|api_key|bearer|csrf|nonce)s?$/;
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
  // A boolean or a number is no secret, whatever its name.
  if (typeof value === 'boolean' || typeof value === 'number' || value === null) return false;
  const spelt = toSnakeCase(name.slice(0, 256));
  return secretNames.test(spelt) || sealedNames.test(spelt);
}

// `Bearer …`, JSON Web Tokens, and the user part of an address (smtp://user:password@host).
const bearers = /\b(?:Bearer|Basic|DPoP) +[\w.~+/=-]{8,}/gi;
const jsonWebTokens = /\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g;
const userParts = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@]{1,512}@/gi;

function cleanText(text: string): string {
  // Before truncation: half a token would no longer be recognised as one.
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

/** @returns the differing members of two views of an object, for each side; undefined when nothing differs */
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
