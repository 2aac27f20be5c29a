// /account/picture: the picture by which people are known here and in applications. It gives nothing to anyone who
// should not have it, so no fresh sign-in is asked for.

import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { type RouteContext, readUpload, type UploadedForm } from '../http/index.ts';
import type { FieldErrors } from '../views/index.ts';
import type { Acts } from './acts.ts';
import { readCrop } from './crop.ts';
import { looksOf, ownerOf, type PageKit, type Problem, type SelfServiceUser } from './page-kit.ts';

const PROBLEMS: Readonly<Record<string, string>> = {
  'avatar.unreadable': 'invalid.picture',
  'avatar.too_many_pixels': 'invalid.picture_pixels',
};

export function createPicturePage(kit: PageKit, { picture }: Acts) {
  interface Shown extends Partial<Problem> {
    readonly errors?: FieldErrors;
  }

  async function show(ctx: Koa.Context, who: SelfServiceUser, shown: Shown = {}): Promise<void> {
    const { errors = {}, alert, retryAfterSeconds, status } = shown;
    const model = {
      csrf: kit.token(ctx, who),
      account: ownerOf(who),
      errors,
      alert: alert === undefined ? undefined : { key: alert },
      retryAfterSeconds,
    };
    kit.views.send(ctx, 'account-picture', model, looksOf(who, status));
  }

  const refuse = (ctx: Koa.Context, who: SelfServiceUser, problem: string, status: number): Promise<void> =>
    show(ctx, who, { errors: { picture: problem }, status });

  async function keep(ctx: Koa.Context, who: SelfServiceUser, { form, file }: UploadedForm) {
    if (file === undefined) return refuse(ctx, who, 'invalid.picture_none', 400);
    try {
      // The square that was chosen on the page, which only a script can; else the middle.
      await picture.set(who.account, file, readCrop((name) => form.get(name)).crop);
      return 'picture_changed';
    } catch (error) {
      const problem = error instanceof AppError ? PROBLEMS[error.code] : undefined;
      if (!(error instanceof AppError) || problem === undefined) throw error;
      return refuse(ctx, who, problem, error.status);
    }
  }

  return {
    show: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> => show(ctx, who),

    async submit(ctx: Koa.Context, who: SelfServiceUser): Promise<void> {
      let upload: UploadedForm;
      try {
        upload = await readUpload(ctx, { name: 'picture', limitBytes: picture.maxBytes });
      } catch (error) {
        // Nothing was read, so nothing was proved; and nothing is done.
        if (!(error instanceof AppError) || error.code !== 'request.too_large') throw error;
        return refuse(ctx, who, 'invalid.picture_bytes', error.status);
      }
      await kit.change(ctx, who, {
        page: 'profile',
        form: upload.form,
        alerts: {
          'request.rate_limited': 'alert.rate_limited',
          'avatar.busy': 'alert.pictures_busy',
          'account.changed': 'alert.account_changed',
        },
        act: async () => (await keep(ctx, who, upload)) ?? undefined,
        showAgain: (problem) => show(ctx, who, problem),
      });
    },

    remove: (ctx: Koa.Context, who: SelfServiceUser): Promise<void> =>
      kit.change(ctx, who, {
        page: 'profile',
        alerts: { 'account.changed': 'alert.account_changed' },
        async act() {
          await picture.remove(who.account);
          return 'picture_removed';
        },
        showAgain: (problem) => show(ctx, who, problem),
      }),
  };
}

/**
 * The pictures themselves, for anyone who has the address: applications show them to their own users. Nothing of the request
 * but its path is read. An address never shows another picture, so browsers keep it; shared caches do not, since a picture
 * can be removed.
 */
export const servePicture =
  (read: (id: string, size: string) => Promise<Buffer | undefined>) =>
  async (ctx: RouteContext): Promise<void> => {
    const bytes = await read(ctx.params.id ?? '', ctx.params.size ?? '');
    if (bytes === undefined) throw new AppError('request.not_found');
    ctx.set('Content-Type', 'image/jpeg');
    ctx.set('Cache-Control', 'private, max-age=31536000, immutable');
    ctx.set('ETag', `"${ctx.params.id}"`);
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
    else ctx.body = bytes;
  };
