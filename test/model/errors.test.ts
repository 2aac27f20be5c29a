// The table of errors: what it does not say does not compile, and each of its codes is raised.
import { deepEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/errors.ts';
import type { ErrorRow } from '../../src/model/errors/error-row.ts';
import { errorCodes } from '../../src/model/errors/errors.ts';

/** `true` only where the compiler takes no `Given` for a `Wanted`. */
type Refused<Given, Wanted> = Given extends Wanted ? false : true;

test('errors: an unknown code, and a row that leaves something out, do not compile', () => {
  const unknown: Refused<'account.on_fire', ErrorCode> = true;
  const noRemedy: Refused<{ status: 404; message: string; cause: string }, ErrorRow> = true;
  const noCause: Refused<{ status: 404; message: string; remedy: string }, ErrorRow> = true;
  const noStatus: Refused<{ message: string; cause: string; remedy: string }, ErrorRow> = true;
  const known: Refused<'account.not_found', ErrorCode> = false;
  deepEqual([unknown, noRemedy, noCause, noStatus, known], [true, true, true, true, false]);
});

test('errors: every code of the table is raised somewhere', () => {
  const root = new URL('../../', import.meta.url);
  const sources = ['src', 'interactions'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('model'))
      .map((name) => readFileSync(new URL(`${folder}/${name}`, root), 'utf8')),
  );
  const text = sources.join('\n');
  deepEqual(
    errorCodes.filter((code) => !text.includes(`'${code}'`)),
    [],
  );
});
