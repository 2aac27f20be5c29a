// What is done to one item by one press: some acts at once, the graver ones after a page that says what will be lost, and
// the gravest after the item's name is typed (typed confirmation works without a script, and stops a slip).
import { refusalOf, typedIn } from './field-values.ts';
import type { AdminContext, Page } from './page.ts';

export interface Ask {
  readonly heading: string;
  /** What will be lost, or what happens. */
  readonly consequences: readonly string[];
  readonly button: string;
  readonly isDanger?: boolean;
  /** What has to be typed. */
  readonly typed?: string;
  /** A further field: `password` or `role`. */
  readonly field?: 'password' | 'role' | 'overlap';
}

export interface ItemAct<Item> {
  /** Last part of the address. */
  readonly name: string;
  readonly run: (context: AdminContext, id: string) => Promise<unknown>;
  readonly notice: string;
  /** Absent: done at once. */
  readonly ask?: (item: Item) => Ask;
  /** The item is gone afterwards: back to the list. */
  readonly isEnd?: boolean;
  /** `run` shows what came out instead of going back. */
  readonly isAnswered?: boolean;
}

export interface Kind<Item> {
  /** In the navigation. */
  readonly here: string;
  readonly crumbs: readonly { readonly label: string; readonly href: string }[];
  /** Below /admin, such as `/users`. */
  readonly path: string;
  /** The item, and what else there is to say about it before something happens to it. */
  readonly read: (context: AdminContext, id: string) => Promise<Item>;
  readonly nameOf: (item: Item) => string;
  /** The item's page, with what went wrong. */
  readonly showItem: (context: AdminContext, model: object, status: number) => Promise<void>;
}

export function actPages<Item>(kind: Kind<Item>, acts: readonly ItemAct<Item>[]): Page[] {
  const { here, crumbs, path, read, nameOf } = kind;
  const idOf = (context: AdminContext): string => context.params.id ?? '';

  async function showAsk(
    context: AdminContext,
    { name }: ItemAct<Item>,
    ask: (item: Item) => Ask,
    model: object = {},
    status = 200,
  ): Promise<void> {
    const item = await read(context, idOf(context));
    const asked = ask(item);
    const back = `${path}/${idOf(context)}`;
    const own = {
      title: asked.heading,
      here,
      crumbs: [...crumbs, { label: nameOf(item), href: back }],
      ask: asked,
      back,
      action: `${back}/${name}`,
    };
    context.show('confirm', { ...own, thing: item, typed: asked.typed ?? '', values: {}, ...model }, status);
  }

  /** @returns what is wrong, if the name was asked for and is not there */
  async function wrongName(context: AdminContext, { ask }: ItemAct<Item>): Promise<string | undefined> {
    const wanted = ask?.(await read(context, idOf(context))).typed;
    if (wanted === undefined) return undefined;
    return (context.form.get('confirm') ?? '').trim() === wanted ? undefined : `Type ${wanted} to go on.`;
  }

  async function perform(context: AdminContext, act: ItemAct<Item>): Promise<void> {
    const { ask, run, isEnd, isAnswered, notice } = act;
    const problem = ask && (await wrongName(context, act));
    if (problem !== undefined && ask) {
      const told = { errors: { confirm: problem }, values: typedIn(context.form) };
      return showAsk(context, act, ask, told, 400);
    }
    try {
      await run(context, idOf(context));
    } catch (error) {
      const { status, alert, errors } = refusalOf(error);
      if (ask === undefined) return kind.showItem(context, { alert, errors }, status);
      return showAsk(context, act, ask, { alert, errors }, status);
    }
    if (isAnswered !== true) context.go(isEnd === true ? path : `${path}/${idOf(context)}`, notice);
  }

  return acts.flatMap((act): Page[] => {
    const address = `${path}/:id/${act.name}`;
    const { ask } = act;
    // What takes something away, or opens something, needs a recent sign-in.
    const isSensitive = ask !== undefined;
    const post: Page = {
      method: 'POST',
      path: address,
      isSensitive,
      handle: (context) => perform(context, act),
    };
    if (ask === undefined) return [post];
    const page = (context: AdminContext) => showAsk(context, act, ask);
    return [{ method: 'GET', path: address, isSensitive, needs: 'admin', handle: page }, post];
  });
}
