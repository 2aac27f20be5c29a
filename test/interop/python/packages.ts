// Virtual environments of Python, one for each pinned list, since some of the clients cannot share one; and a client in one of them.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApi } from '../../flows/api-support.ts';
import { freePort } from '../../support/free-port.ts';
import { namesOf, runClient } from '../support/client.ts';
import type { Issuer } from '../support/issuer.ts';
import { type Installed, install } from '../support/toolchain.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** @param list of `requirements-<list>.txt` */
export function packages(list: string): Promise<Installed> {
  const pins = join(HERE, `requirements-${list}.txt`);
  return install({
    name: `python-${list}`,
    programs: ['python3'],
    pins: [pins],
    commands: (folder) => [
      ['python3', '-m', 'venv', folder],
      [
        join(folder, 'bin', 'pip'),
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--prefer-binary',
        '-r',
        pins,
      ],
    ],
  });
}

/** @param file of this folder */
export const pythonProgram = ({ folder }: Installed, file: string, name: string) => ({
  command: join(folder, 'bin', 'python'),
  args: ['-B', join(HERE, file), name],
});

interface PythonClient {
  readonly installed: Installed;
  /** `flask_clients.py`, and the client's name for it. */
  readonly file: string;
  readonly name: string;
  /** Of its web server; one of its own by default. */
  readonly port?: number;
  /** The path of its redirect URI. */
  readonly callback?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Registers its web server as an API, whose identifier is the address with this path. */
  readonly api?: string;
}

/** @returns the names of the steps that it took */
export async function runPython(
  issuer: Issuer,
  { installed, file, name, port, callback = '/callback', metadata = {}, api }: PythonClient,
): Promise<string[]> {
  const origin = `http://localhost:${port ?? (await freePort())}`;
  const { client_id, client_secret } = await issuer.registerClient({
    client_name: name,
    redirect_uris: [`${origin}${callback}`],
    post_logout_redirect_uris: [`${origin}/out`],
    grant_types: ['authorization_code', 'refresh_token'],
    ...metadata,
  });
  if (api !== undefined) await createApi(issuer.app, { identifier: `${origin}${api}` });
  const steps = await runClient(
    {
      ...pythonProgram(installed, file, name),
      env: {
        CLIENT_ID: client_id,
        CLIENT_SECRET: client_secret,
        REDIRECT_URI: `${origin}${callback}`,
      },
    },
    issuer,
  );
  return namesOf(steps);
}
