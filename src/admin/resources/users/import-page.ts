// The page that imports users of another system: lines of JSON with their existing password hashes, and the result of each
// line. Rejected lines are shown in the field again, to be fixed and resubmitted.
import { isMembers, memberOf, parseJson } from '../../../json.ts';
import { expected } from '../../api/expected.ts';
import { refusalOf, textOf } from '../../pages/field-values.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { type ImportResult, userImport } from './import-route.ts';
import { importRowSchema } from './schema.ts';

/** The API's limit plus the form encoding: each quote takes three bytes. */
const FORM_BYTES = 16 * 1024 * 1024;
/** The most created users that the page lists. */
const MAX_SHOWN = 200;

const required: readonly string[] = importRowSchema.required ?? [];

/** Derived from the schema that validates the lines. */
const fields = Object.entries(importRowSchema.properties).map(([name, schema]) => {
  const description = memberOf(schema, 'description');
  return {
    name,
    isRequired: required.includes(name),
    wanted: expected(schema),
    description: typeof description === 'string' ? description : '',
  };
});

const example = [
  '{"username":"grace","email":"grace@example.com","is_email_verified":true,"password_hash":"$2b$12$…"}',
  '{"username":"alan","groups":["engineering"],"created_at":"2019-06-01T00:00:00Z"}',
].join('\n');

const showPage = (context: AdminContext, shown: object = {}, status = 200): void =>
  context.show(
    'users-import',
    { title: 'Import users', here: 'users', fields, example, rows: '', outcome: undefined, ...shown },
    status,
  );

/** The error message, and the invalid fields if it has any. */
const problemOf = ({ error }: ImportResult) => ({
  // Here the body of the request is one of many lines.
  message: /^The \w+ is not valid JSON/.test(error?.message ?? '')
    ? 'The line is not valid JSON.'
    : (error?.message ?? '').replace(/^The body/, 'The line'),
  fields: Object.entries(error?.fields ?? {}),
});

const nameIn = (line: string): string => {
  try {
    const row: unknown = parseJson(line, 'line');
    return isMembers(row) ? textOf(row, 'username') : '';
  } catch {
    return '';
  }
};

function outcomeOf(results: readonly ImportResult[], lines: readonly string[]) {
  const created = results.filter(({ status }) => status === 'created');
  const refused = results.filter(({ status }) => status !== 'created');
  // Lines after the one where the import stopped were not processed.
  const back = refused.flatMap(({ status, line }) =>
    status === 'stopped' ? lines.slice(line - 1) : [lines[line - 1] ?? ''],
  );
  return {
    back: back.join('\n'),
    outcome: {
      created: created.length,
      refused: refused.length,
      refusedRows: refused.map((result) => ({
        line: result.line,
        username: nameIn(lines[result.line - 1] ?? ''),
        isStop: result.status === 'stopped',
        ...problemOf(result),
      })),
      createdRows: created.slice(0, MAX_SHOWN),
      unshown: Math.max(0, created.length - MAX_SHOWN),
    },
  };
}

async function importUsers(context: AdminContext): Promise<void> {
  const text = context.form.get('rows') ?? '';
  if (text.trim() === '') return showPage(context, { errors: { rows: 'Paste at least one line.' } }, 400);
  try {
    const results = await context.callLines(userImport.import, text);
    const { outcome, back } = outcomeOf(results, text.split(/\r?\n/));
    const shown = { outcome, rows: back };
    // Many rejected lines can be too large to store: they are shown at once, or they would be lost.
    if (!(await context.goOnce('/users/import', shown))) showPage(context, shown);
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    showPage(context, { rows: text, alert, errors }, status);
  }
}

export const userImportPages: readonly Page[] = [
  // Importing password hashes lets the administrator sign in as any imported user, so it requires a recent sign-in.
  get('/users/import', async (context) => showPage(context, (await context.once()) ?? {}), {
    isSensitive: true,
    needs: 'admin',
  }),
  post('/users/import', importUsers, { isSensitive: true, formBytes: FORM_BYTES }),
];
