// Owns what is done to one thing by one press: some acts at once, the graver ones after a page that says what will be
// lost, and the gravest after the thing's name is typed (typed confirmation works without a script, and stops a slip).
import { refusalOf, textOf, typedIn } from './field-values.ts';
import type { Page, Values, Visit } from './page.ts';

export interface Ask {
  readonly heading: string;
  /** What will be lost, or what happens. */
  readonly consequences: readonly string[];
  readonly button: string;
  readonly isDanger?: boolean;
  /** Which member of the thing has to be typed. */
  readonly typed?: string;
  /** A further field: `password` or `role`. */
  readonly field?: 'password' | 'role' | 'overlap';
}

export interface Act {
  /** Last part of the address. */
  readonly name: string;
  readonly route: string;
  readonly notice: string;
  /** Absent: done at once. */
  readonly ask?: (thing: Values) => Ask;
  readonly body?: (visit: Visit) => Values;
  /** The thing is gone afterwards: on to the list. */
  readonly isEnd?: boolean;
  /** Shows what came out instead of going back. */
  readonly showResult?: (visit: Visit, data: Values) => Promise<void>;
}

export interface Kind {
  /** In the navigation. */
  readonly here: string;
  readonly label: string;
  /** Below /admin, such as `/users`. */
  readonly path: string;
  readonly param: string;
  readonly read: string;
  readonly nameOf: (thing: Values) => string;
  /** What else there is to say about the thing before something happens to it. */
  readonly more?: (visit: Visit, thing: Values) => Promise<Values>;
  /** The thing's page, with what went wrong. */
  readonly showThing: (visit: Visit, model: object, status: number) => Promise<void>;
}

export function actPages(kind: Kind, acts: readonly Act[]): Page[] {
  const idOf = (visit: Visit): string => visit.params.id ?? '';
  const paramsOf = (visit: Visit) => ({ [kind.param]: idOf(visit) });

  async function showAsk(
    visit: Visit,
    { name }: Act,
    ask: (thing: Values) => Ask,
    model: object,
    status = 200,
  ) {
    const { data } = await visit.call(kind.read, { params: paramsOf(visit) });
    const thing: Values = { ...data, ...(await kind.more?.(visit, data)) };
    const asked = ask(thing);
    const back = `${kind.path}/${idOf(visit)}`;
    const crumbs = [
      { label: kind.label, href: kind.path },
      { label: kind.nameOf(thing), href: back },
    ];
    const own = {
      title: asked.heading,
      here: kind.here,
      crumbs,
      ask: asked,
      back,
      action: `${back}/${name}`,
    };
    const typed = asked.typed === undefined ? '' : textOf(thing, asked.typed);
    visit.show('confirm', { ...own, thing, typed, values: {}, ...model }, status);
  }

  /** @returns what is wrong, if the name was asked for and is not there */
  async function wrongName(visit: Visit, { ask }: Act): Promise<string | undefined> {
    if (ask === undefined) return undefined;
    const { data: thing } = await visit.call(kind.read, { params: paramsOf(visit) });
    const member = ask(thing).typed;
    if (member === undefined) return undefined;
    const wanted = textOf(thing, member);
    return (visit.form.get('confirm') ?? '').trim() === wanted ? undefined : `Type ${wanted} to go on.`;
  }

  async function perform(visit: Visit, act: Act): Promise<void> {
    const problem = await wrongName(visit, act);
    if (problem !== undefined && act.ask) {
      const told = { errors: { confirm: problem }, values: typedIn(visit.form) };
      return showAsk(visit, act, act.ask, told, 400);
    }
    let data: Values;
    try {
      const body = act.body?.(visit);
      ({ data } = await visit.call(act.route, { params: paramsOf(visit), ...(body && { body }) }));
    } catch (error) {
      const { status, alert, errors } = refusalOf(error);
      if (act.ask === undefined) return kind.showThing(visit, { alert, errors }, status);
      return showAsk(visit, act, act.ask, { alert, errors }, status);
    }
    if (act.showResult) return act.showResult(visit, data);
    return visit.go(act.isEnd === true ? kind.path : `${kind.path}/${idOf(visit)}`, act.notice);
  }

  return acts.flatMap((act): Page[] => {
    const path = `${kind.path}/:id/${act.name}`;
    const { ask } = act;
    // What takes something away, or opens something, needs a recent sign-in.
    const isSensitive = ask !== undefined;
    const post: Page = { method: 'POST', path, isSensitive, handle: (visit) => perform(visit, act) };
    if (ask === undefined) return [post];
    const page = (visit: Visit) => showAsk(visit, act, ask, {});
    return [{ method: 'GET', path, isSensitive, needs: 'admin', handle: page }, post];
  });
}
