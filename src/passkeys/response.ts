// The shape of the browser's responses to ceremonies (WebAuthn §5.1, RegistrationResponseJSON and
// AuthenticationResponseJSON): known members only, with bounded sizes, validated before anything decodes them.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { isMembers, parseJson } from '../json.ts';

/** The client data (§5.8.1) that the library does not validate for us. */
export interface ClientFacts {
  readonly challenge: string;
  readonly isForeignFrame: boolean;
}

// §7.1: a credential id is at most 1023 bytes.
const MAX_ID = Math.ceil((1023 * 4) / 3);
const MAX_PART = 8192;
// Attestation is not requested; one longer than the longest known is not legitimate.
const MAX_ATTESTATION = 16_384;
const MAX_TRANSPORTS = 10;

const base64url = /^[\w-]+$/;

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members | undefined => (isMembers(value) ? value : undefined);

const encoded = (value: unknown, max: number): string | undefined =>
  typeof value === 'string' && value.length <= max && base64url.test(value) ? value : undefined;

export function clientFacts(clientDataJson: string): ClientFacts | undefined {
  try {
    const facts = membersOf(parseJson(Buffer.from(clientDataJson, 'base64url').toString('utf8')));
    const challenge = encoded(facts?.challenge, MAX_PART);
    if (challenge === undefined) return undefined;
    // Our pages are never embedded in a frame (§5.10), whatever the library accepts.
    const isForeignFrame = facts?.crossOrigin === true || facts?.topOrigin !== undefined;
    return { challenge, isForeignFrame };
  } catch {
    return undefined;
  }
}

/** @returns undefined for a response that no browser sends */
export function parseRegistration(value: unknown): RegistrationResponseJSON | undefined {
  const credential = membersOf(value);
  const response = membersOf(credential?.response);
  const id = encoded(credential?.id, MAX_ID);
  const clientDataJSON = encoded(response?.clientDataJSON, MAX_PART);
  const attestationObject = encoded(response?.attestationObject, MAX_ATTESTATION);
  const isWhole = credential?.type === 'public-key' && credential.rawId === id;
  if (!isWhole || !id || !clientDataJSON || !attestationObject) return undefined;
  const properties = membersOf(membersOf(credential?.clientExtensionResults)?.credProps);
  const { transports: named } = response ?? {};
  const transports = (Array.isArray(named) ? named.slice(0, MAX_TRANSPORTS) : []).filter(
    (name: unknown): name is string => typeof name === 'string' && /^[\w-]{1,32}$/.test(name),
  );
  return {
    id,
    rawId: id,
    type: 'public-key',
    // §10.1.3: whether the credential is discoverable; browsers that omit it create what was requested.
    clientExtensionResults: { credProps: { rk: properties?.rk !== false } },
    response: { clientDataJSON, attestationObject, transports },
  };
}

/** @returns undefined for a response that no browser sends */
export function parseAssertion(value: unknown): AuthenticationResponseJSON | undefined {
  const credential = membersOf(value);
  const response = membersOf(credential?.response);
  const id = encoded(credential?.id, MAX_ID);
  const clientDataJSON = encoded(response?.clientDataJSON, MAX_PART);
  const authenticatorData = encoded(response?.authenticatorData, MAX_PART);
  const signature = encoded(response?.signature, MAX_PART);
  const isWhole = credential?.type === 'public-key' && credential.rawId === id;
  if (!isWhole || !id || !clientDataJSON || !authenticatorData || !signature) return undefined;
  const userHandle = encoded(response?.userHandle, 128);
  if (userHandle === undefined && response?.userHandle !== undefined && response.userHandle !== null)
    return undefined;
  return {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) },
  };
}
