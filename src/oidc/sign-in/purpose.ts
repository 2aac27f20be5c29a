// What a sign-in of the Admin UI or of self-service is for, so that its page can name the act: "Confirm it’s you to delete
// Grace". It travels in `state`. The Admin UI's names somebody, so it is bound to the browser: an address made by others
// cannot put words about other people on the page. Nothing is decided by it.
import { randomBytes } from 'node:crypto';
import type Koa from 'koa';
import { CONSOLE_CLIENT_ID } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import type { Csrf } from '../../http/index.ts';
import type { BoundInteraction } from '../models/interaction.ts';

/** What is done, and to whom or what: an id. */
export interface Purpose {
  readonly act: string;
  readonly target?: string | undefined;
}

const SEPARATOR = '~';
const aboutOf = (random: string, { act, target = '' }: Purpose): string =>
  ['sign-in', random, act, target].join(SEPARATOR);

/** A `state` that cannot be guessed and says what the sign-in is for. */
export function stateFor(ctx: Koa.Context, csrf: Pick<Csrf, 'token'>, purpose: Purpose): string {
  const random = randomBytes(32).toString('base64url');
  const { act, target = '' } = purpose;
  return [random, act, encodeURIComponent(target), csrf.token(ctx, aboutOf(random, purpose))].join(SEPARATOR);
}

type Request = Pick<BoundInteraction, 'params'>;

const isFor = ({ params }: Request, callback: string): boolean =>
  params.client_id === CONSOLE_CLIENT_ID && String(params.redirect_uri).endsWith(callback);

/** Whether the sign-in leads to the Admin UI, not to self-service. */
export const isForAdminUi = (request: Request): boolean => isFor(request, '/admin/callback');

/** @returns undefined for every other sign-in, and for one whose purpose was not written for this browser */
export function purposeOf(
  ctx: Koa.Context,
  csrf: Pick<Csrf, 'verify'>,
  request: Request,
): Purpose | undefined {
  const state = String(request.params.state ?? '');
  // The page of self-service that it returns to: one of a fixed list.
  if (isFor(request, '/account/callback')) {
    // The first page alone is opened for no act; an act on it asks for a new authentication.
    const isVisit = state === 'home' && request.params.prompt !== 'login';
    return isVisit ? undefined : { act: `account_${state.replaceAll('-', '_')}` };
  }
  const [random = '', act = '', target = '', token, ...rest] = state.split(SEPARATOR);
  if (!isForAdminUi(request) || rest.length > 0 || token === undefined) return undefined;
  try {
    const purpose = { act, target: decodeURIComponent(target) };
    csrf.verify(ctx, aboutOf(random, purpose), token);
    return purpose;
  } catch (error) {
    if (error instanceof AppError || error instanceof URIError) return undefined;
    throw error;
  }
}
