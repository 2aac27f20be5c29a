// The import of a table of users: pasted or read from a file, its columns matched, every row judged, and begun when it is
// confirmed. Until then nothing is stored: the text goes along in the form. From then on a job carries it out
// (import-job.ts), and its page shows how far it is, whoever asks, whenever.

import { Readable } from 'node:stream';
import { invalid } from '../../../errors.ts';
import { ours } from '../../../phrase.ts';
import { csvOf } from '../../pages/exports.ts';
import { isOn, refusalOf } from '../../pages/field-values.ts';
import { shows } from '../../pages/form-pages.ts';
import { type AdminContext, get, idOf, type Page, post } from '../../pages/page.ts';
import type { ImportRules, JudgedRow, Table, UserImport } from '../../pages/user-imports.ts';
import { columns, guessMapping, MAX_ROWS, readTable } from './csv.ts';

const PATH = '/users/import/csv';
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** The same as a form: each quote and line end takes three bytes. */
const FORM_BYTES = 26 * 1024 * 1024;
/** The most rows of one kind that the preview lists. */
const MAX_SHOWN = 200;
const SAMPLES = 3;
const MAX_LISTED = 5;
/** As long as a lease: until then another process may take over. */
const STALLED_MS = 60_000;

const example = ['username,email,full name,groups', 'grace,grace@example.com,Grace Hopper,engineering'].join(
  '\n',
);

const here = 'users';
const title = 'Import users';
const crumbs = [{ label: 'Users', href: '/users' }];

const show = shows('users-import-csv', async (context) => {
  const earlier = (await context.userImports.listOf(context.admin.account.id)).slice(0, MAX_LISTED);
  const none = { rows: '', preview: undefined, mayUpdate: false, example, earlier: earlier.map(stateOf) };
  return { title, here, maxRows: MAX_ROWS, ...none };
});

/** The choices of the form, else what the headings say. */
function mappingOf({ form }: AdminContext, { header }: Table): string[] {
  if (!form.has('column.0')) return guessMapping(header);
  const known = new Set(columns.map(({ name }) => name));
  return header.map((_, at) => form.get(`column.${at}`) ?? '').map((name) => (known.has(name) ? name : ''));
}

/** @returns why the choices cannot be right */
function mappingProblem(mapping: readonly string[]): string | undefined {
  const chosen = mapping.filter(Boolean);
  const twice = chosen.find((name, at) => chosen.indexOf(name) !== at);
  if (twice !== undefined) return `Two columns are “${ours(labelOf(twice))}”: choose one of them.`;
  return chosen.includes('username') || chosen.includes('email')
    ? undefined
    : 'Say which column is the username or the e-mail address.';
}

const rulesOf = ({ form, admin }: AdminContext): ImportRules => ({
  mayUpdate: isOn(form, 'update'),
  adminId: admin.account.id,
});

const labelOf = (name: string): string => columns.find((column) => column.name === name)?.label ?? name;
/** Without what its cells may say, as of a user’s page. */
const fieldOf = (name: string): string =>
  name === 'is_email_verified' ? 'E-mail verified' : labelOf(name).replace(/ \(.*\)$/, '');

const shownRow = (row: JudgedRow) => ({
  ...row,
  changes: row.changes.map(fieldOf),
  fields: Object.entries(row.fields ?? {}).map(([name, problem]) => ({ label: fieldOf(name), problem })),
});

function kindsOf(judged: readonly JudgedRow[]) {
  const of = (kind: JudgedRow['kind']) => {
    const rows = judged.filter((row) => row.kind === kind);
    return { total: rows.length, rows: rows.slice(0, MAX_SHOWN).map(shownRow) };
  };
  return { create: of('create'), update: of('update'), unchanged: of('unchanged'), refused: of('refused') };
}

async function preview(context: AdminContext, text: string, table: Table): Promise<void> {
  const mapping = mappingOf(context, table);
  const problem = mappingProblem(mapping);
  const rules = rulesOf(context);
  const judged = problem === undefined ? await context.userImports.judge({ table, mapping }, rules) : [];
  const kinds = kindsOf(judged);
  const shown = {
    columns,
    header: table.header.map((heading, at) => ({
      heading,
      chosen: mapping[at],
      samples: table.rows.slice(0, SAMPLES).map((row) => row[at] ?? ''),
    })),
    total: table.rows.length,
    kinds,
    changing: kinds.create.total + kinds.update.total,
    problem,
  };
  const { mayUpdate } = rules;
  await show(context, { rows: text, preview: shown, mayUpdate }, problem === undefined ? 200 : 400);
}

/** @throws AppError request.invalid naming `rows` */
function textOf({ form, file }: AdminContext): string {
  if (file === undefined) return form.get('rows') ?? '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    const message = 'The file is not UTF-8. In a spreadsheet, save it as “CSV UTF-8”.';
    throw invalid({ rows: message });
  }
}

async function submit(context: AdminContext): Promise<void> {
  const { form, userImports } = context;
  try {
    const text = textOf(context);
    if (text.trim() === '') throw invalid({ rows: 'Choose a file or paste a table.' });
    const table = readTable(text);
    const mapping = mappingOf(context, table);
    if (form.get('step') !== 'import' || mappingProblem(mapping) !== undefined)
      return await preview(context, text, table);
    context.go(`${PATH}/${await userImports.begin({ table, mapping }, rulesOf(context))}`);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    await show(context, { rows: form.get('rows') ?? '', alert, errors }, status);
  }
}

/** An import in figures. @param now epoch milliseconds */
function stateOf(found: UserImport, now = found.changedAt) {
  const { id, state, total, done, createdAt, changedAt, runningSince, doneBefore, problem } = found;
  const { created, updated, unchanged, refused } = found;
  const perMs = (done - doneBefore) / Math.max(changedAt - runningSince, 1);
  const isMeasured = state === 'running' && done > doneBefore;
  return {
    id,
    state,
    total,
    done,
    created,
    updated,
    unchanged,
    refused,
    problem,
    left: total - done,
    percent: Math.floor((done / total) * 100),
    at: new Date(createdAt).toISOString(),
    perSecond: isMeasured ? Math.max(1, Math.round(perMs * 1000)) : undefined,
    secondsLeft: isMeasured ? Math.ceil((total - done) / perMs / 1000) : undefined,
    isStalled: state === 'running' && now - changedAt > STALLED_MS,
  };
}

const find = (context: AdminContext): Promise<UserImport> =>
  context.userImports.get(idOf(context).id, context.admin.account.id);

const showOne =
  (template: string) =>
  async (context: AdminContext): Promise<void> => {
    const model = { title, here, crumbs, run: stateOf(await find(context), context.now) };
    context.show(template, model);
  };

async function stop(context: AdminContext): Promise<void> {
  const { id } = await find(context);
  await context.userImports.stop(id);
  context.go(`${PATH}/${id}`);
}

async function goOn(context: AdminContext): Promise<void> {
  const { id } = await find(context);
  await context.userImports.resume(id);
  context.go(`${PATH}/${id}`);
}

async function* refusedLines(context: AdminContext, found: UserImport): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { header, rows } of context.userImports.refused(found)) {
    if (isFirst) yield csvOf([['row', ...header, 'reason']]);
    isFirst = false;
    const cellsOf = (cells: readonly string[]) => header.map((_, at) => cells[at] ?? '');
    yield csvOf(rows.map(({ number, cells, reason }) => [number, ...cellsOf(cells), reason]));
  }
  if (isFirst) yield csvOf([['row', 'reason']]);
}

async function download(context: AdminContext): Promise<void> {
  const found = await find(context);
  const { ctx } = context;
  ctx.type = 'text/csv; charset=utf-8';
  const day = new Date(found.createdAt).toISOString().slice(0, 10);
  ctx.set('Content-Disposition', `attachment; filename="refused-users-${day}.csv"`);
  ctx.body = Readable.from(refusedLines(context, found));
}

// Importing creates administrators and password hashes, so it requires a recent sign-in.
const sensitive = { isSensitive: true, needs: 'admin' } as const;

export const csvImportPages: readonly Page[] = [
  get(PATH, (context) => show(context), sensitive),
  post(PATH, submit, {
    isSensitive: true,
    formBytes: FORM_BYTES,
    file: { name: 'file', limitBytes: MAX_FILE_BYTES },
  }),
  get(`${PATH}/:id`, showOne('users-import-run'), { needs: 'admin' }),
  get(`${PATH}/:id/progress`, showOne('users-import-bar'), { needs: 'admin', isBackground: true }),
  get(`${PATH}/:id/refused`, download, sensitive),
  post(`${PATH}/:id/stop`, stop),
  post(`${PATH}/:id/continue`, goOn, { isSensitive: true }),
];
