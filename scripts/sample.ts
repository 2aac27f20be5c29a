// Starts the sample relying party: a small application that signs users in with this provider, to try a sign-in and as an
// example for developers. Its parts are in scripts/sample/.
import { createServer, type RequestListener } from 'node:http';
import { styleText } from 'node:util';
import { UsageError } from './command-line.ts';
import { listen } from './sample/listen.ts';
import { HELP, type Options, readOptions } from './sample/options.ts';

const EXIT = { stopped: 0, failed: 1, usage: 2 } as const;

function leave(message: string, exitCode: number): never {
  console.error(message);
  process.exit(exitCode);
}

/** openid-client is a development package, so a production installation does not have it. */
async function loadParts() {
  try {
    const [connection, signIn, browsers, routes, server, problem] = await Promise.all([
      import('./sample/connection.ts'),
      import('./sample/sign-in.ts'),
      import('./sample/browsers.ts'),
      import('./sample/routes.ts'),
      import('./sample/server.ts'),
      import('./sample/problem.ts'),
    ]);
    return { ...connection, ...signIn, ...browsers, ...routes, ...server, ...problem };
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing || !error.message.includes('openid-client')) throw error;
    return leave(
      'The sample needs the package openid-client. Get it with: sh scripts/install.sh --dev',
      EXIT.failed,
    );
  }
}

async function run(options: Options): Promise<void> {
  const { createConnection, createSignIn, createBrowsers, createRoutes, createListener, Problem } =
    await loadParts();
  // The port must be known first, since the redirect URI contains it.
  let listener: RequestListener | undefined;
  const server = createServer((request, response) => listener?.(request, response));
  const port = await listen(server, options.port).catch((error: Error) => leave(error.message, EXIT.failed));
  const origin = `http://localhost:${port}`;
  const addresses = { redirectUri: `${origin}/callback`, homeUri: `${origin}/` };
  const connection = createConnection({ ...options, ...addresses });
  const signIn = createSignIn({ connection, ...addresses });
  const browsers = createBrowsers(`latchkey_sample_${port}`);
  listener = createListener({
    routes: createRoutes({ connection, signIn, browsers, ...addresses }),
    origin,
    provider: options.issuer.origin,
    onError: (error) => console.error(error),
  });

  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    server.close();
    server.closeAllConnections();
    await connection.close();
    process.exit(EXIT.stopped);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);

  try {
    if (connection.isConfigured) await connection.configuration();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const text = [error.message, error.advice].filter(Boolean).join(' ');
    if (error.kind !== 'unreachable') leave(text, EXIT.failed);
    console.log(`${text} Until then the page says so.`);
  }
  const address = styleText('bold', `${origin}/`, { stream: process.stdout });
  console.log(`The sample application is running. Open ${address}`);
}

try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options.isHelpAsked) console.log(HELP.trimEnd());
  else await run(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  leave(`${error.message}\nTry --help.`, EXIT.usage);
}
