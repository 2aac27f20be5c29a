// What a start says when the server listens: in a terminal one address to open, in a log the lines that programs read.
import { styleText } from 'node:util';
import { unreadInEnvironment } from '../config/load.ts';
import type { Config } from '../config/types.ts';
import type { Logger } from '../log.ts';
import { version } from './version.ts';

interface Started {
  readonly port: number;
  readonly config: Config;
  readonly hasAdmin: boolean;
  readonly log: Pick<Logger, 'info' | 'warn' | 'isLevelEnabled'>;
}

/** Which stores hold the data, without addresses: they carry passwords. */
export const storesOf = ({ mongodbUri, redisUrl, dataDir }: Config) =>
  mongodbUri === undefined
    ? { store: 'sqlite', data_dir: dataDir }
    : { store: redisUrl === undefined ? 'mongodb' : 'mongodb, redis' };

/** Until there is an administrator the onboarding page is the only one of use; then it is gone. */
export function greet({ port, config, hasAdmin, log }: Started): void {
  const { baseUrl } = config;
  for (const text of unreadInEnvironment()) log.warn(text);
  const stores = storesOf(config);
  if (process.stdout.isTTY === true) {
    if (!log.isLevelEnabled('info')) return;
    const [what, path] = hasAdmin
      ? ['Administration is here', '/admin']
      : ['Create the first administrator here', '/onboard'];
    const address = styleText('bold', `${baseUrl}${path}`, { stream: process.stdout });
    process.stdout.write(
      `\nLatchkey ${version} is running on ${stores.data_dir ?? stores.store}. ${what}:\n\n  ${address}\n\nCtrl-C stops it.\n\n`,
    );
    return;
  }
  log.info({ port, base_url: baseUrl, ...stores, version }, 'listening');
  if (!hasAdmin) log.info(`Open ${baseUrl}/onboard to create the first administrator.`);
}
