// Loaded into a started program by --import: writes its id and the address of each module that it loads to a file, one a line, and
// fails the first load of a module whose address ends as told.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const { LOADED_LIST = '', FAIL_ONCE } = process.env;
let hasFailed = false;

registerHooks({
  load(url, context, nextLoad) {
    if (FAIL_ONCE !== undefined && url.endsWith(FAIL_ONCE) && !hasFailed) {
      hasFailed = true;
      throw new Error('this module was not loaded');
    }
    appendFileSync(LOADED_LIST, `${process.pid} ${url}\n`);
    return nextLoad(url, context);
  },
});
