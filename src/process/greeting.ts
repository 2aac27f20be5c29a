// What a start says when the server listens: in a terminal one address to open, in a log the lines that programs read.
import { styleText } from 'node:util';
import type { Logger } from '../log.ts';
import { version } from './version.ts';

interface Started {
  readonly port: number;
  readonly baseUrl: string;
  readonly hasAdmin: boolean;
  readonly log: Pick<Logger, 'info' | 'isLevelEnabled'>;
}

/** Until there is an administrator the onboarding page is the only one of use; then it is gone. */
export function greet({ port, baseUrl, hasAdmin, log }: Started): void {
  if (process.stdout.isTTY === true) {
    if (!log.isLevelEnabled('info')) return;
    const [what, path] = hasAdmin
      ? ['Administration is here', '/admin']
      : ['Create the first administrator here', '/onboard'];
    const address = styleText('bold', `${baseUrl}${path}`, { stream: process.stdout });
    process.stdout.write(
      `\nLatchkey ${version} is running. ${what}:\n\n  ${address}\n\nCtrl-C stops it.\n\n`,
    );
    return;
  }
  log.info({ port, base_url: baseUrl, version }, 'listening');
  if (!hasAdmin) log.info(`Open ${baseUrl}/onboard to create the first administrator.`);
}
