// Many invitations at once: addresses pasted or from a file, each judged before anything is sent, then sent one by one through
// the route of a single invitation, so that its rules, its event and its mail are the same.
import { parseEmail } from '../../../accounts/index.ts';
import { AppError, invalid } from '../../../errors.ts';
import { numberOrText, refusalOf, textOrNull } from '../../pages/field-values.ts';
import { shows } from '../../pages/form-pages.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { users } from '../users/resource.ts';
import { type Given, readAddresses } from './addresses.ts';
import { applicationsToChoose, DAY_SECONDS, settingsOf } from './choices.ts';
import { invitations } from './resource.ts';

const PATH = '/invitations/many';
/** The most that one response has time for. */
const MOST = 500;
const MAX_FILE_BYTES = 256 * 1024;
const FORM_BYTES = 1024 * 1024;

const FAILED = 'Not sent, because the server had a problem. Invite this person again later.';

const title = 'Invite many';
const here = 'users';
const crumbs = [
  { label: 'Users', href: '/users' },
  { label: 'Invitations', href: '/invitations' },
];

interface Judged extends Given {
  /** Why it gets none; '': it does. */
  readonly reason: string;
}

const show = shows('invitations-many', async (context) => {
  const [settings, applications] = await Promise.all([settingsOf(context), applicationsToChoose(context)]);
  const none = { addresses: '', values: {}, preview: undefined, sent: undefined, most: MOST };
  const own = { title, here, crumbs, ...settings, applications };
  return { ...own, ...none };
});

/** Reads nothing from the store, which may be what has failed. */
function showFailed(context: AdminContext, sent: object): void {
  context.show('invitations-many', { title, here, crumbs, hasMail: true, sent }, 500);
}

async function reasonOf(context: AdminContext, { text }: Given): Promise<string> {
  const email = parseEmail(text);
  if (email === undefined) return 'This is not an e-mail address.';
  const { data: people } = await context.call(users.list, { query: { email: email.address, limit: '1' } });
  if (people.items.length > 0) return 'There is a user with this e-mail address.';
  const { data: pending } = await context.call(invitations.list, { query: { search: email.address } });
  const isInvited = pending.items.some(
    (one) => one.used_at === null && parseEmail(one.email)?.key === email.key,
  );
  return isInvited ? 'This person is invited already. Resend the invitation from the list.' : '';
}

/** @throws AppError request.invalid naming `addresses` */
async function judge(context: AdminContext, given: readonly Given[]): Promise<Judged[]> {
  const refuse = (message: string) => invalid({ addresses: message });
  if (given.length === 0) throw refuse('Choose a file or enter at least one e-mail address.');
  if (given.length > MOST)
    throw refuse(`These are ${given.length} addresses. Invite at most ${MOST} at a time.`);
  const seen = new Map<string, number>();
  const judged: Judged[] = [];
  for (const one of given) {
    const key = parseEmail(one.text)?.key ?? one.text;
    const before = seen.get(key);
    const reason =
      before === undefined
        ? await reasonOf(context, one)
        : before === one.line
          ? 'This address is twice in its line.'
          : `This address is in line ${before} already.`;
    if (before === undefined) seen.set(key, one.line);
    judged.push({ ...one, reason });
  }
  return judged;
}

async function send(
  context: AdminContext,
  judged: readonly Judged[],
  leftOut: readonly Judged[],
): Promise<void> {
  const { form } = context;
  const days = numberOrText(form.get('days') ?? '');
  const clientId = textOrNull(form.get('client_id'));
  const expiry = typeof days === 'number' ? days * DAY_SECONDS : days;
  const choices = { expires_in: expiry, send_mail: true, ...(clientId !== null && { client_id: clientId }) };
  const invited: string[] = [];
  // What becomes of their mails, as it was when each was made.
  let kept = 0;
  const refused: Judged[] = [];
  let hasFailed = false;
  for (const one of judged) {
    if (one.reason !== '' || hasFailed) {
      refused.push(one.reason === '' ? { ...one, reason: FAILED } : one);
      continue;
    }
    try {
      const { data, mail } = await context.call(invitations.create, {
        body: { email: one.text, ...choices },
      });
      invited.push(data.email);
      if (mail?.state === 'kept') kept += 1;
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) {
        // What was sent is sent, and has to be told. The others would fail alike.
        context.ctx.app.emit('error', error);
        hasFailed = true;
        refused.push({ ...one, reason: FAILED });
        continue;
      }
      const fields = error.fields ?? {};
      // What is wrong with the choices is wrong for all.
      if (fields.email === undefined && Object.keys(fields).length > 0) throw error;
      refused.push({ ...one, reason: fields.email ?? error.message });
    }
  }
  const sent = { invited, refused, kept, leftOut };
  // Where the store is away, the report cannot be kept in it.
  if (hasFailed) showFailed(context, sent);
  else if (!(await context.goOnce(PATH, { sent }))) await show(context, { sent });
}

function textOf({ form, file }: AdminContext): string {
  if (file === undefined) return form.get('addresses') ?? '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    const addresses = 'The file is not UTF-8. In a spreadsheet, save it as “CSV UTF-8”.';
    throw invalid({ addresses });
  }
}

async function submit(context: AdminContext): Promise<void> {
  const { form } = context;
  const values = { days: form.get('days'), client_id: form.get('client_id') };
  let addresses = form.get('addresses') ?? '';
  try {
    addresses = textOf(context);
    const { given, leftOut: names } = readAddresses(addresses);
    const leftOut = names.map((one) => ({ ...one, reason: 'There is no @ in it.' }));
    const judged = await judge(context, given);
    if (form.get('step') === 'send') return await send(context, judged, leftOut);
    const good = judged.filter(({ reason }) => reason === '');
    const refused = judged.filter(({ reason }) => reason !== '');
    const preview = { good: good.map(({ text }) => text), refused, leftOut };
    await show(context, { addresses, values, preview });
  } catch (error) {
    const { status, alert, errors } = refusalOf(error);
    const { expires_in: days, ...others } = errors;
    const named = days === undefined ? others : { ...others, days: 'Must be 1 to 30 days.' };
    await show(context, { addresses, values, alert, errors: named }, status);
  }
}

export const manyInvitationPages: readonly Page[] = [
  get(PATH, async (context) => show(context, (await context.once()) ?? {}), { needs: 'admin' }),
  post(PATH, submit, { formBytes: FORM_BYTES, file: { name: 'file', limitBytes: MAX_FILE_BYTES } }),
];
