// Owns the process entry of `web`. Does nothing but keep compiled code between starts: stripping types and compiling a few
// hundred modules is most of a start, and the second one finds it done. The cache lies with the packages, where only who
// may change the program may write; a folder in /tmp could be prepared by anybody on the machine.
import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Where that folder cannot be written, this says so in its result and the start is slower, no more.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/latchkey', import.meta.url)));
const { runWeb } = await import('./process/web.ts');
await runWeb();
// Now, not at exit: a process that is killed would leave nothing behind.
flushCompileCache();
