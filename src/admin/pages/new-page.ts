// The form of a new item, from its fields: what was typed comes back with what the route says is wrong with it.
// templates/admin/new.njk draws it.
import { refusalOf, typedIn } from './field-values.ts';
import type { AdminContext, Page } from './page.ts';

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'text' | 'number';
  /** Of the input, as HTML. */
  readonly attributes?: string;
  /** What stands there at first. */
  readonly value?: string;
  /** One of these instead of a text; the first one at first. */
  readonly choices?: readonly { readonly value: string; readonly label: string; readonly about: string }[];
  /** What the route calls it. Default: its name. */
  readonly member?: string;
  /** Default: the text without space around it. */
  readonly toMember?: (text: string) => unknown;
  /** Where the route's own words would name another unit. */
  readonly problem?: string;
}

interface Options {
  /** Below /admin. */
  readonly path: string;
  readonly title: string;
  /** Which entry of the navigation is lit. */
  readonly here: string;
  readonly crumbs: readonly { readonly label: string; readonly href: string }[];
  readonly fields: readonly Field[];
  readonly button: string;
  /** Where "Cancel" leads. */
  readonly back: string;
  /** As its route, so that nobody types in vain. */
  readonly isSensitive: boolean;
  /** Creates it, and answers. */
  readonly create: (context: AdminContext, body: Readonly<Record<string, unknown>>) => Promise<void>;
}

export function newPages({ create, isSensitive, ...shown }: Options): Page[] {
  const { path, fields } = shown;
  const labels = Object.fromEntries(fields.map(({ name, label }) => [name, label.replace(/ \(.*\)$/, '')]));
  const show = (context: AdminContext, model: object = {}, status = 200): void =>
    context.show('new', { ...shown, labels, values: {}, ...model }, status);

  /** By the names of the form. */
  const namedHere = (errors: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(errors).map(([name, problem]) => {
        const field = fields.find(({ member }) => member === name);
        return field === undefined ? [name, problem] : [field.name, field.problem ?? problem];
      }),
    );

  async function submit(context: AdminContext): Promise<void> {
    const body = fields.map(({ name, member = name, toMember = (text) => text.trim() }) => [
      member,
      toMember(context.form.get(name) ?? ''),
    ]);
    try {
      await create(context, Object.fromEntries(body));
    } catch (error) {
      const { status, alert, errors } = refusalOf(error);
      show(context, { values: typedIn(context.form), alert, errors: namedHere(errors) }, status);
    }
  }

  return [
    { method: 'GET', path, isSensitive, needs: 'admin', handle: async (context) => show(context) },
    { method: 'POST', path, isSensitive, handle: submit },
  ];
}
