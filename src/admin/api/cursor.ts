// List cursors: opaque, signed, and valid for one list with one sorting and one set of filters. An edited cursor is
// refused, so a client cannot inject a query (Ory CVE-2026-33503 and similar).
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type AppError, invalid } from '../../errors.ts';
import { parseJson } from '../../json.ts';
import type { FieldValue } from '../../store/port.ts';

export interface Position {
  readonly id: string;
  readonly sortValue: FieldValue | undefined;
  /** Number of items before this position; only for display. */
  readonly offset: number;
}

export interface Cursors {
  /** @param scope identifies the list: name, filters, sorting */
  seal(position: Position, scope: unknown): string;
  /** @throws AppError request.invalid naming `cursor` */
  open(cursor: string, scope: unknown): Position;
}

const PURPOSE = 'admin-list-cursor';

const refuse = (): AppError =>
  invalid({ cursor: 'Must be the `next` of the same list with the same filters and sorting.' });

const isFieldValue = (value: unknown): value is FieldValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** @param deps.key secret; cursors signed with another key are refused */
export function createCursors({ key }: { key: string }): Cursors {
  const sign = (text: string): Buffer => createHmac('sha256', key).update(`${PURPOSE}\n${text}`).digest();
  const digest = (scope: unknown): string =>
    createHash('sha256').update(JSON.stringify(scope)).digest('base64url');

  return {
    seal({ id, sortValue, offset }, scope) {
      const content = JSON.stringify([digest(scope), id, sortValue ?? null, offset]);
      const text = Buffer.from(content).toString('base64url');
      return `${text}.${sign(text).toString('base64url')}`;
    },

    open(cursor, scope) {
      const [text = '', signature = ''] = cursor.split('.');
      const given = Buffer.from(signature, 'base64url');
      const right = sign(text);
      if (given.length !== right.length || !timingSafeEqual(given, right)) throw refuse();
      // The signature guarantees the format; the cursor may still belong to another list.
      const content: unknown = parseJson(Buffer.from(text, 'base64url').toString());
      if (!Array.isArray(content) || content[0] !== digest(scope)) throw refuse();
      const [, id, sortValue, offset]: unknown[] = content;
      return {
        id: String(id),
        sortValue: isFieldValue(sortValue) ? sortValue : undefined,
        offset: Number(offset),
      };
    },
  };
}
