// Speaks with test/interop/support/client.ts.
import { createInterface } from 'node:readline';

export const {
  ISSUER: issuer = '',
  BASE_URL: baseUrl = '',
  CLIENT_ID: clientId = '',
  CLIENT_SECRET: clientSecret = '',
  REDIRECT_URI: redirectUri = '',
} = process.env;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** @returns the answer of the browser beside this program */
export async function ask(message) {
  write(message);
  const { value } = await lines.next();
  return JSON.parse(value);
}

export const step = (name, facts = {}) => write({ step: name, ok: true, ...facts });

export const done = () => process.stdout.write('{"done":true}\n', () => process.exit(0));

export function expect(isRight, what, seen) {
  if (!isRight) throw new Error(`${what}: ${JSON.stringify(seen)}`);
}
