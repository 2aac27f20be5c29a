// A refusal of the API as a page, where no form shows it.
import { AppError } from '../../errors.ts';
import { READING_ALONE } from './notices.ts';

/** @throws what is no refusal */
export function problemOf(error: unknown) {
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  const { status, fields = {} } = error;
  const isOnlyReader = error.code === 'auth.insufficient_scope';
  const message = isOnlyReader ? READING_ALONE : error.message;
  const title = isOnlyReader ? 'For administrators only' : status === 404 ? 'Not found' : 'That did not work';
  return { status, model: { title, here: '', message, problems: Object.entries(fields) } };
}
