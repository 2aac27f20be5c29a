// Acts on one item: some run at once, others after a page that names the consequences, and the most destructive ones after
// the item's name is typed (typed confirmation works without a script and prevents accidental clicks).
import { type PageText, phrase } from '../../phrase.ts';
import { numberOrText, typedIn } from './field-values.ts';
import { formPages, orShown } from './form-pages.ts';
import { type AdminContext, type Crumb, idOf, type Page, post } from './page.ts';

export interface Ask {
  readonly heading: PageText;
  /** The consequences, including what will be lost. */
  readonly consequences: readonly PageText[];
  readonly button: string;
  readonly isDanger?: boolean;
  /** The text to type as confirmation. */
  readonly typed?: string;
  /** An additional field. */
  readonly field?: 'password' | 'role' | 'overlap';
}

export interface ItemAct<Item> {
  /** Last segment of the path. */
  readonly name: string;
  readonly run: (context: AdminContext, id: string) => Promise<unknown>;
  readonly notice: string;
  /** The act that takes it back, without anything lost: offered in the notice. */
  readonly undo?: string;
  /** Absent: runs without confirmation. */
  readonly ask?: (item: Item) => Ask;
  /** The act removes the item: redirect to the list. */
  readonly isEnd?: boolean;
  /** `run` shows the result itself instead of redirecting. */
  readonly isAnswered?: boolean;
}

export interface Kind<Item> {
  /** Current entry of the navigation. */
  readonly here: string;
  readonly crumbs: readonly Crumb[];
  /** Below /admin, such as `/users`. */
  readonly path: string;
  /** Reads the item, with everything else that the confirmation page shows. */
  readonly read: (context: AdminContext, id: string) => Promise<Item>;
  readonly nameOf: (item: Item) => string;
  /** Shows the item's page with an error. */
  readonly showItem: (context: AdminContext, model: object, status: number) => Promise<void>;
}

const MAX_OVERLAP_HOURS = 720;

/** A new secret. @param rotate also shows it, once */
export const rotation = <Item>(
  heading: (item: Item) => PageText,
  rotate: (context: AdminContext, id: string, body: { readonly overlap_seconds: unknown }) => Promise<void>,
): ItemAct<Item> => ({
  name: 'rotate-secret',
  run(context, id) {
    const hours = numberOrText(context.form.get('overlap_hours') ?? '0');
    const seconds = typeof hours === 'number' ? Math.min(hours, MAX_OVERLAP_HOURS) * 3600 : hours;
    return rotate(context, id, { overlap_seconds: seconds });
  },
  notice: 'secret-shown',
  isAnswered: true,
  ask: (item) => ({
    heading: heading(item),
    consequences: [
      'A new secret is created and shown once.',
      'The current secret stops working after the time below.',
    ],
    button: 'Rotate secret',
    field: 'overlap',
  }),
});

export function actPages<Item>(kind: Kind<Item>, acts: readonly ItemAct<Item>[]): Page[] {
  const { here, crumbs, path, read, nameOf } = kind;

  async function showAsk(
    context: AdminContext,
    { name }: ItemAct<Item>,
    ask: (item: Item) => Ask,
    model: object = {},
    status = 200,
  ): Promise<void> {
    const item = await read(context, idOf(context).id);
    const asked = ask(item);
    const back = `${path}/${idOf(context).id}`;
    const own = {
      title: asked.heading,
      here,
      crumbs: [...crumbs, { label: nameOf(item), href: back, isName: true }],
      ask: asked,
      back,
      action: `${back}/${name}`,
    };
    context.show('confirm', { ...own, thing: item, typed: asked.typed ?? '', values: {}, ...model }, status);
  }

  /** @returns the error when a name must be typed and does not match */
  async function wrongName(context: AdminContext, { ask }: ItemAct<Item>): Promise<PageText | undefined> {
    const wanted = ask?.(await read(context, idOf(context).id)).typed;
    if (wanted === undefined) return undefined;
    return (context.form.get('confirm') ?? '').trim() === wanted
      ? undefined
      : phrase`Type ${wanted} to continue.`;
  }

  async function perform(context: AdminContext, act: ItemAct<Item>): Promise<void> {
    const { ask, run, isEnd, isAnswered, notice, undo } = act;
    const problem = ask && (await wrongName(context, act));
    if (problem !== undefined && ask) {
      const shown = { errors: { confirm: problem }, values: typedIn(context.form) };
      return showAsk(context, act, ask, shown, 400);
    }
    await run(context, idOf(context).id);
    if (isAnswered === true) return;
    const own = `${path}/${idOf(context).id}`;
    const back = undo === undefined ? undefined : { path: `${own}/${undo}`, fields: {} };
    context.go(isEnd === true ? path : own, notice, back);
  }

  return acts.flatMap((act): Page[] => {
    const address = `${path}/:id/${act.name}`;
    const { ask } = act;
    const submit = (context: AdminContext) => perform(context, act);
    if (ask === undefined) return [post(address, orShown(submit, kind.showItem))];
    // Acts that destroy something or grant access require a recent sign-in.
    return formPages({
      path: address,
      isSensitive: true,
      show: (context, refused, status) => showAsk(context, act, ask, refused, status),
      submit,
    });
  });
}
