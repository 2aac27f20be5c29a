// Bulk acts on users: selected by checkboxes on the list, named and counted on a confirmation page, then run one by one
// through the same routes as for a single user, so that each has its own audit event.
import { AppError } from '../../../errors.ts';
import { personName } from '../../pages/format.ts';
import { type AdminContext, get, type Page, post } from '../../pages/page.ts';
import { groupChoices } from '../groups/choice.ts';
import { groups } from '../groups/resource.ts';
import { hasMailServer, readSettings } from '../settings/read.ts';
import { type BulkAct, bulkActs, groupOf } from './bulk-acts.ts';
import { users } from './resource.ts';

const CHOSEN = 'user.';
/** The most that one response has time for. */
const MOST = 200;

const crumb = { label: 'Users', href: '/users' };
const here = 'users';

interface Person {
  readonly id: string;
  readonly label: string;
}

const chosenIds = ({ form }: AdminContext): string[] =>
  form
    .keys()
    .filter((name) => name.startsWith(CHOSEN))
    .map((name) => name.slice(CHOSEN.length));

function show(context: AdminContext, model: object, status = 200): void {
  const none = { act: undefined, chosen: [], refused: [], done: [], message: '', groupChoices: undefined };
  context.show('users-selected', { title: 'Users', here, crumbs: [crumb], ...none, ...model }, status);
}

/** The selected users that still exist, without the acting administrator, who could lock themselves out by mistake. */
async function find(context: AdminContext, ids: readonly string[]): Promise<Person[]> {
  const found = await Promise.all(
    ids.map(async (id) => {
      try {
        return (await context.call(users.read, { params: { id } })).data;
      } catch (error) {
        if (error instanceof AppError && error.status === 404) return undefined;
        throw error;
      }
    }),
  );
  return found
    .filter((user) => user !== undefined)
    .map((user) => ({ id: user.id, label: personName(user) }))
    .filter(({ id }) => id !== context.admin.account.id);
}

/** @returns undefined after it showed a page with the error in the selection */
async function read(context: AdminContext): Promise<{ act: BulkAct; chosen: Person[] } | undefined> {
  const act = bulkActs.find(({ name }) => name === context.form.get('act'));
  const ids = chosenIds(context);
  if (ids.length > MOST) {
    show(context, { title: 'Too many at once', message: `At most ${MOST} users at a time.` }, 400);
    return undefined;
  }
  const chosen = act === undefined ? [] : await find(context, ids);
  if (act === undefined || chosen.length === 0) {
    const message = 'Tick the users on the list first. Your own account cannot be among them.';
    show(context, { title: 'Nobody is chosen', message }, 400);
    return undefined;
  }
  return { act, chosen };
}

/** Whether its mails wait in the outbox for somebody who passes their links on. */
const isKept = async (context: AdminContext, act: BulkAct): Promise<boolean> =>
  act.withoutMail !== undefined && !hasMailServer(await readSettings(context));

async function showAsk(
  context: AdminContext,
  wanted: { readonly act: BulkAct; readonly chosen: Person[] },
  errors: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { act, chosen } = wanted;
  const choices = act.isOfGroup === true ? await groupChoices(context) : undefined;
  const status = Object.keys(errors).length > 0 ? 400 : 200;
  const consequences = ((await isKept(context, act)) && act.withoutMail) || act.consequences;
  const shown = { title: act.asks(chosen.length), act: { ...act, consequences }, chosen };
  show(context, { ...shown, groupChoices: choices, group: groupOf(context), errors }, status);
}

async function ask(context: AdminContext): Promise<void> {
  const wanted = await read(context);
  if (wanted !== undefined) await showAsk(context, wanted);
}

/** @returns why the group of the form is none */
async function groupProblem(context: AdminContext, { isOfGroup }: BulkAct): Promise<string | undefined> {
  if (isOfGroup !== true) return undefined;
  const id = groupOf(context);
  if (id === '') return 'Select a group.';
  try {
    await context.call(groups.read, { params: { id } });
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return 'There is no such group.';
    throw error;
  }
}

async function perform(context: AdminContext): Promise<void> {
  const wanted = await read(context);
  if (wanted === undefined) return;
  const { act, chosen } = wanted;
  const problem = await groupProblem(context, act);
  if (problem !== undefined) return showAsk(context, wanted, { group: problem });
  const done: Person[] = [];
  const refused: (Person & { readonly reason: string })[] = [];
  for (const person of chosen) {
    try {
      await act.run(context, person.id);
      done.push(person);
    } catch (error) {
      // A failure for one user does not stop the others; a failure that affects all of them is thrown.
      if (!(error instanceof AppError) || error.status >= 500 || error.code === 'auth.stale') throw error;
      refused.push({ ...person, reason: error.message });
    }
  }
  const kept = { name: act.name, many: done.length, done, refused };
  if (!(await context.goOnce('/users/selected/done', kept))) await showResult(context, act, kept);
}

type Kept = Readonly<Record<string, unknown>>;

// What is kept is JSON, and a heading is written in the language of the page.
const showResult = async (context: AdminContext, act: BulkAct, kept: Kept): Promise<void> =>
  show(context, { ...kept, title: act.says(Number(kept.many)), isInOutbox: await isKept(context, act) });

async function showDone(context: AdminContext): Promise<void> {
  const kept = await context.once();
  const act = bulkActs.find(({ name }) => name === kept?.name);
  if (kept === undefined || act === undefined) context.go('/users');
  else await showResult(context, act, kept);
}

const back = async (context: AdminContext): Promise<void> => context.go('/users');

export const userBulkPages: readonly Page[] = [
  get('/users/selected', back, { needs: 'admin' }),
  post('/users/selected', ask, { formOn: { path: '/users' } }),
  get('/users/selected/done', showDone, { needs: 'admin' }),
  get('/users/selected/confirmed', back, { isSensitive: true, needs: 'admin' }),
  post('/users/selected/confirmed', perform, {
    isSensitive: true, // The form is on the list, because the confirmation page is itself the response to a form.
    formOn: { path: '/users', action: '/users/selected' },
  }),
];
