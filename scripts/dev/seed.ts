// The initial data of a development installation: an administrator, a bearer token for the admin API, and the sample
// application. Stored beside its data, so that the next start prints the same.
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../command-line.ts';
import { makeFolder } from '../file-problem.ts';

export interface Seed {
  readonly username: string;
  readonly password: string;
  readonly adminToken: string;
  readonly sample?: { readonly origin: string; readonly clientId: string; readonly clientSecret: string };
}

const fileIn = (dataDir: string): string => join(dataDir, 'dev-seed.json');

const secret = (): string => randomBytes(24).toString('base64url');

async function save(dataDir: string, seed: Seed): Promise<Seed> {
  makeFolder(dataDir, 0o700);
  await writeFile(fileIn(dataDir), `${JSON.stringify(seed, undefined, 2)}\n`, { mode: 0o600 });
  return seed;
}

/** @throws UsageError when the folder holds data that this command did not create */
export async function openSeed(dataDir: string): Promise<Seed> {
  try {
    return JSON.parse(await readFile(fileIn(dataDir), 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new UsageError(`${fileIn(dataDir)} is damaged. Delete the folder to start over.`);
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    const isTaken = (await readdir(dataDir).catch(() => [])).length > 0;
    if (isTaken)
      throw new UsageError(`${dataDir} contains other data. Choose a folder for development only.`);
    return save(dataDir, { username: 'admin', password: secret(), adminToken: secret() });
  }
}

/** Completes what the server's first start has created. @returns the seed with the sample's credentials */
export async function completeSeed(
  seed: Seed,
  { dataDir, baseUrl, origin }: { dataDir: string; baseUrl: string; origin: string },
): Promise<Required<Seed>> {
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${baseUrl}/admin/api${path}`, {
      method,
      headers: { authorization: `Bearer ${seed.adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
    return JSON.parse(text).data;
  };

  const users = await call<{ items: { id: string; username: string }[] }>('GET', '/users?limit=100');
  const administrator = users.items.find(({ username }) => username === seed.username);
  // Notices are sent to verified addresses only.
  if (administrator) await call('PATCH', `/users/${administrator.id}`, { is_email_verified: true });

  const clients = await call<{ items: { client_id: string }[] }>('GET', '/clients?limit=100');
  const { sample } = seed;
  const isKnown = clients.items.some(({ client_id: id }) => id === sample?.clientId);
  if (sample !== undefined && sample.origin === origin && isKnown) return { ...seed, sample };
  const created = await call<{ client_id: string; client_secret: string }>('POST', '/clients', {
    client_name: 'Sample',
    redirect_uris: [`${origin}/callback`],
    post_logout_redirect_uris: [`${origin}/`],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_basic',
    scope: 'openid profile email',
  });
  const registered = { origin, clientId: created.client_id, clientSecret: created.client_secret };
  const complete = { ...seed, sample: registered };
  await save(dataDir, complete);
  return complete;
}
