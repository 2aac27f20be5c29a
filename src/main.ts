// Caches compiled code between starts: stripping types and compiling several hundred modules is most of the start time. The
// cache is in node_modules, writable only by who may change the program; any local user could prepare a folder in /tmp.
import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { answerArguments, WEB_HELP } from './process/command-line.ts';

// In a folder that is not writable this does nothing, and the start is slower.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/latchkey', import.meta.url)));
const exitCode = answerArguments(process.argv.slice(2), WEB_HELP);
if (exitCode === undefined) {
  const { runWeb } = await import('./process/web.ts');
  await runWeb();
  // Now, not at exit: a killed process would write nothing.
  flushCompileCache();
} else process.exitCode = exitCode;
