// What the next page says was done ("Password changed"), in its address: with a proof that an act led there, in this browser and just
// now. Without one, any link could make a page of ours say it. No script and no store is needed, and a reload says it again.
import type Koa from 'koa';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Csrf } from './csrf.ts';

export interface Told {
  /**
   * @param page its path from the root, which may have a query
   * @param name the parameter that says it
   * @param what the key of what it says
   * @returns its address
   */
  addressOf(ctx: Koa.Context, page: string, name: string, what: string, seconds?: number): string;
  /** @param given the parameter in the address of this page @returns the key; undefined if nothing led here */
  read(ctx: Koa.Context, given: unknown): string | undefined;
}

interface Deps {
  readonly csrf: Pick<Csrf, 'token' | 'verify'>;
  readonly clock: Clock;
}

const SECONDS = 300;

const purposeOf = (path: string, what: string, until: string): string => `told ${path} ${what} ${until}`;

export const createTold = ({ csrf, clock }: Deps): Told => ({
  addressOf(ctx, page, name, what, seconds = SECONDS) {
    const [path = '', query] = page.split('?');
    const until = String(clock() + seconds * 1000);
    const proof = csrf.token(ctx, purposeOf(path, what, until));
    return `${page}${query === undefined ? '?' : '&'}${name}=${what}~${until}~${proof}`;
  },
  read(ctx, given) {
    const [what = '', until = '', proof, ...rest] = typeof given === 'string' ? given.split('~') : [];
    if (proof === undefined || rest.length > 0 || !(Number(until) > clock())) return undefined;
    try {
      csrf.verify(ctx, purposeOf(ctx.path, what, until), proof);
      return what;
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  },
});
