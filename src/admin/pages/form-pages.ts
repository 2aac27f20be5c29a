// The pages of a form: a refused one is shown again with its values and the errors of the route.
import { type Refusal, refusalOf, typedIn } from './field-values.ts';
import type { AdminContext, Page, PageModel } from './page.ts';

export interface Refused extends Omit<Refusal, 'status'> {
  readonly values: Readonly<Record<string, string>>;
}

type Show = (context: AdminContext, refused: Refused, status: number) => unknown;

/** @returns a handler that sends the response by `submit`, or by `show` where the route refuses */
export const orShown =
  (submit: (context: AdminContext) => Promise<unknown>, show: Show) =>
  async (context: AdminContext): Promise<void> => {
    try {
      await submit(context);
    } catch (error) {
      const { status, ...refusal } = refusalOf(error);
      await show(context, { values: typedIn(context.form), ...refusal }, status);
    }
  };

/** Shows a page: its model, and over it what is otherwise after a form. */
export const shows =
  (template: string, modelOf: (context: AdminContext) => Promise<PageModel>) =>
  async (context: AdminContext, otherwise: object = {}, status = 200): Promise<void> =>
    context.show(template, { ...(await modelOf(context)), ...otherwise }, status);

interface Options extends Pick<Page, 'path' | 'isSensitive' | 'formBytes'> {
  readonly show: (context: AdminContext, refused?: Refused, status?: number) => unknown;
  /** Default: `show`. */
  readonly showRefused?: Show;
  readonly submit: (context: AdminContext) => Promise<unknown>;
}

/** The form, for administrators, and what it submits to: the same address. */
export const formPages = ({ show, showRefused = show, submit, ...page }: Options): Page[] => [
  {
    ...page,
    method: 'GET',
    needs: 'admin',
    async handle(context) {
      await show(context);
    },
  },
  { ...page, method: 'POST', handle: orShown(submit, showRefused) },
];
