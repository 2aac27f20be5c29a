// What the tests of Java's web servers read from them.
import { ok } from 'node:assert/strict';
import type { Page } from '../../support/agent.ts';

/** What a page of it says, which must be a JSON object. */
export function jsonOf({ status, url, body }: Page): Record<string, unknown> {
  ok(status === 200 && body.startsWith('{'), `${status} at ${url}: ${body}`);
  const value: unknown = JSON.parse(body);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Which guards of the code flow a client sends by itself, by where its own address leads. */
export async function guardsOf(url: string): Promise<string[]> {
  const answer = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html,*/*' } });
  const location = answer.headers.get('location');
  ok(location, `${answer.status} at ${url}: ${await answer.text()}`);
  const { searchParams } = new URL(location);
  return ['nonce', 'code_challenge'].filter((name) => searchParams.has(name));
}
