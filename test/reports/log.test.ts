// Every report that is tried has its line in docs/tried-reports.md.
import { equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

test('tried reports: every one is in the log, once', () => {
  const log = readFileSync(new URL('../../docs/tried-reports.md', import.meta.url), 'utf8');
  let count = 0;
  for (const file of readdirSync(import.meta.dirname)) {
    const text = readFileSync(`${import.meta.dirname}/${file}`, 'utf8');
    for (const [, report] of text.matchAll(/^ +report: '(\S+)',$/gm)) {
      count += 1;
      equal(log.split(`| ${report} |`).length, 2, report);
    }
  }
  ok(count > 100, `${count} were read`);
});
