// Pages and mails with a look that is being edited. What a form has is kept for its administrator's session alone, under a name
// that the form chose: the address of a sample never holds what it shows, so that no link makes our pages say something.
import type Koa from 'koa';
import type { Look } from '../../branding/index.ts';
import { AppError } from '../../errors.ts';
import { isMembers } from '../../json.ts';
import { createMailPreviews, lintMail, type MailTexts } from '../../mail/index.ts';
import { isMail } from '../../model/mails.ts';
import type { ProtocolDoors } from '../../oidc/index.ts';
import { contrastsOfTheme, themeOf } from '../../views/index.ts';
import { createValidator } from '../api/validate.ts';
import type { Previews, SampleRequest } from '../pages/previews.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';
import { lookBody, shownLook, toLook } from '../resources/branding/schema.ts';

/** While a form is filled in. */
const SECONDS = 4 * 3600;
const handlePattern = /^[A-Za-z0-9_-]{16,64}$/;

const isTexts = (value: unknown): value is MailTexts =>
  isMembers(value) &&
  Object.values(value).every(
    (texts) => isMembers(texts) && Object.values(texts).every((text) => typeof text === 'string'),
  );

export function createPreviews({ views, oneTime, looks, settings, baseUrl }: ProtocolDoors) {
  const drafts = createValidator(lookBody);
  const mails = createMailPreviews({ baseUrl });
  const keyOf = ({ sessionUid }: SignedInAdmin, handle: string): string[] => ['look', sessionUid, handle];

  async function draftOf(who: SignedInAdmin, handle: string): Promise<Look | undefined> {
    if (!handlePattern.test(handle)) return undefined;
    const kept = await oneTime.peek(keyOf(who, handle));
    return isMembers(kept) && drafts.isValid(kept.look) ? toLook(kept.look) : undefined;
  }

  async function textsOf(who: SignedInAdmin, handle: string | undefined): Promise<MailTexts | undefined> {
    if (handle === undefined || !handlePattern.test(handle)) return undefined;
    const kept = await oneTime.peek(keyOf(who, handle));
    return isMembers(kept) && isTexts(kept.mails) ? kept.mails : undefined;
  }

  const themeWith = (clientId: string | undefined, draft: Look | undefined) =>
    themeOf(settings(), draft === undefined ? looks.lookOf(clientId) : looks.lookWith(clientId, draft));

  async function show(ctx: Koa.Context, who: SignedInAdmin, asked: SampleRequest): Promise<void> {
    const { name, language, scheme, clientId } = asked;
    const draft = asked.draft === undefined ? undefined : await draftOf(who, asked.draft);
    const theme = themeWith(clientId, draft);
    const { samples } = await import('../resources/branding/samples/samples.ts');
    const sample = Object.entries(samples).find(([one]) => one === name)?.[1];
    if (sample !== undefined) return views.sendStill(ctx, { ...sample, language, theme }, scheme);
    const mail = name.replace(/^mail-/, '');
    if (mail === name || !isMail(mail)) throw new AppError('request.not_found');
    const texts = (await textsOf(who, asked.draft)) ?? looks.mailTexts();
    const { html } = mails.render(mail, language, theme, texts);
    views.sendStill(ctx, { html, logo: theme.look?.logo }, scheme);
  }

  return (ctx: Koa.Context, who: SignedInAdmin): Previews => ({
    async keep(handle, look) {
      if (!handlePattern.test(handle)) throw new AppError('request.malformed');
      await oneTime.keep(keyOf(who, handle), { look: shownLook(look) }, SECONDS);
    },
    async keepMails(handle, texts) {
      if (!handlePattern.test(handle)) throw new AppError('request.malformed');
      await oneTime.keep(keyOf(who, handle), { mails: texts }, SECONDS);
    },
    mail(mail, language, texts) {
      const rendered = mails.render(mail, language, themeWith(undefined, undefined), texts);
      return { ...rendered, problems: lintMail(rendered, baseUrl) };
    },
    contrasts: (clientId, look) => contrastsOfTheme(themeWith(clientId, look)),
    show: (asked) => show(ctx, who, asked),
  });
}
