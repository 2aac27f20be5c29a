// What imports of files have in common: a file is judged and its differences are shown; what was shown is sent back and saved,
// unless something else was saved in between.
import { AppError, invalid } from '../../../errors.ts';
import { parseJson } from '../../../json.ts';
import { refusalOf, versionOf } from '../../pages/field-values.ts';
import type { AdminContext } from '../../pages/page.ts';

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw invalid({ json: 'Not valid JSON.' });
  }
}

export function sendFile({ ctx, now }: Pick<AdminContext, 'ctx' | 'now'>, name: string, data: object): void {
  const day = new Date(now).toISOString().slice(0, 10);
  ctx.type = 'application/json';
  ctx.set('Content-Disposition', `attachment; filename="${name}-${day}.json"`);
  ctx.body = `${JSON.stringify(data, null, 2)}\n`;
}

interface Import<Body> {
  /** What the form says of itself; the file as it was sent, what is wrong with it. */
  show(shown: object, status?: number): void;
  /** What saving this would change. */
  review(body: Body, shown: object, status?: number): Promise<void>;
  /** @throws AppError for a file that cannot be taken */
  read(file: unknown): Promise<Body>;
  /** What a review sent back. @throws AppError as the API does */
  check(body: unknown): Body;
  /** @throws AppError with status 412 when another version was saved */
  save(body: Body, version: number): Promise<void>;
  /** Said when another version was saved. */
  readonly overtaken: string;
}

export async function importFile<Body>({ form }: AdminContext, how: Import<Body>): Promise<void> {
  const json = form.get('json') ?? '';
  const ready = form.get('ready');
  try {
    if (ready === undefined) return await how.review(await how.read(jsonIn(json)), { json });
    const body = how.check(jsonIn(ready));
    const version = versionOf(form);
    if (version === undefined) throw new AppError('request.malformed');
    try {
      await how.save(body, version);
    } catch (error) {
      if (refusalOf(error).status !== 412) throw error;
      await how.review(body, { alert: how.overtaken }, 412);
    }
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    how.show({ json, errors, alert }, status);
  }
}
