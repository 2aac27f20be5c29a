// A guide of the Admin UI, run: its application is registered as the Admin UI registers it, its very lines are written to files,
// and a person's browser signs in to what they make.
import { match, ok } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Guide, postLogoutUrisOf, redirectUrisOf } from '../../../src/admin/guides/guide.ts';
import { guideOf, valuesFor } from '../../../src/admin/guides/list.ts';
import { stepsOf } from '../../../src/admin/guides/render.ts';
import { applicationDefaults } from '../../../src/admin/resources/clients/application-templates.ts';
import { freePort } from '../../support/free-port.ts';
import type { Issuer } from './issuer.ts';
import { type ServerProgram, startServer } from './server.ts';

/** Marks the test that runs a guide: a guide may say that it is run only where one names it (test/docs/guides.test.ts). */
export type GuideName = `guide:${string}`;

export interface GuideInUse {
  readonly guide: Guide;
  readonly origin: string;
  readonly port: number;
  readonly clientId: string;
  readonly secret: string;
  /** Its lines by the file that they belong to; those for a shell by `sh 1`, `sh 2` … */
  readonly lines: ReadonlyMap<string, string>;
  /** Writes the files, below a folder. @returns where one of them is */
  write(folder: string): (file: string) => string;
}

/** @param host where the application's server listens; a free port is added */
export async function useGuide(
  name: GuideName,
  issuer: Issuer,
  host = 'http://localhost',
): Promise<GuideInUse> {
  const guide = guideOf(name.slice('guide:'.length));
  ok(guide, `there is no ${name}`);
  const port = await freePort();
  const origin = `${host}:${port}`;
  const redirectUris = redirectUrisOf(guide, origin);
  const isPublic = guide.kind === 'spa';
  const { client_id, client_secret } = await issuer.registerClient({
    ...applicationDefaults(guide.kind),
    client_name: guide.label,
    ...(redirectUris.length > 0 && { redirect_uris: redirectUris }),
    ...(guide.afterLogout && { post_logout_redirect_uris: postLogoutUrisOf(guide, origin) }),
    ...(redirectUris.length > 0 && !isPublic && { require_pkce: true }),
    ...guide.metadata,
  });
  const application = { name: guide.label, clientId: client_id, redirectUris };
  const values = valuesFor(guide, application, { issuer: issuer.issuer, baseUrl: issuer.url });
  ok(values.isRegistered);
  const blocks = stepsOf(guide, values).flatMap(({ blocks }) => blocks);
  let shells = 0;
  const lines = new Map(
    blocks.map(({ file, code }) => {
      shells += file === undefined ? 1 : 0;
      return [file ?? `sh ${shells}`, code];
    }),
  );
  return {
    guide,
    origin,
    port,
    clientId: client_id,
    secret: client_secret,
    lines,
    write(folder) {
      for (const [file, code] of lines) {
        if (file.startsWith('sh ')) continue;
        const path = join(folder, file);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, `${code}\n`);
      }
      return (file) => join(folder, file);
    },
  };
}

/** Starts the application, signs a person in there, and reads her name on the page. */
export async function signInAt(
  use: GuideInUse,
  issuer: Issuer,
  program: Omit<ServerProgram, 'url'>,
  {
    path = '/',
    ready = path,
    see = /Grace Hopper/,
    fields,
  }: {
    readonly path?: string;
    readonly ready?: string;
    readonly see?: RegExp;
    /** Sends the form of the first page with these. */
    readonly fields?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  const server = await startServer({
    ...program,
    env: {
      PORT: String(use.port),
      OIDC_CLIENT_SECRET: use.secret,
      SESSION_SECRET: 'of a test that is long enough for everyone',
      ...program.env,
    },
    url: `${use.origin}${ready}`,
  });
  try {
    const { status, url, body } = await issuer.newBrowser().visit(`${use.origin}${path}`, fields);
    match(body, see, `${status} at ${url}`);
    ok(url.startsWith(use.origin), url);
  } catch (error) {
    throw new Error(`${issuer.refusals().slice(-5).join('')}\n${server.said()}`, { cause: error });
  } finally {
    await server.stop();
  }
}
