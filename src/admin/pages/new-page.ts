// The form for a new item, defined by its fields: a rejected form is shown again with its values and the route's errors.
// Rendered by templates/admin/new.njk.
import { formPages, type Refused } from './form-pages.ts';
import type { AdminContext, Crumb, Page } from './page.ts';

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'text' | 'number';
  /** HTML attributes of the input. */
  readonly attributes?: string;
  /** Initial value. */
  readonly value?: string;
  /** A selection instead of a text input; the first choice is the default. */
  readonly choices?: readonly { readonly value: string; readonly label: string; readonly about: string }[];
  /** Name of the member in the route's body. Default: the field's name. */
  readonly member?: string;
  /** Converts the text to the member's value. Default: the trimmed text. */
  readonly toMember?: (text: string) => unknown;
  /** Replaces the route's error message where that would name another unit. */
  readonly problem?: string;
}

interface Options {
  /** Below /admin. */
  readonly path: string;
  readonly title: string;
  /** Current entry of the navigation. */
  readonly here: string;
  readonly crumbs: readonly Crumb[];
  readonly fields: readonly Field[];
  readonly button: string;
  /** Target of "Cancel". */
  readonly back: string;
  /** As on the route, so that reauthentication comes before the form is filled in. */
  readonly isSensitive: boolean;
  /** Creates the item and sends the response. */
  readonly create: (context: AdminContext, body: Readonly<Record<string, unknown>>) => Promise<void>;
}

export function newPages({ create, isSensitive, ...shown }: Options): Page[] {
  const { path, fields } = shown;
  const labels = Object.fromEntries(fields.map(({ name, label }) => [name, label.replace(/ \(.*\)$/, '')]));

  /** Renames the route's members to the form's field names. */
  const namedHere = (errors: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(errors).map(([name, problem]) => {
        const field = fields.find(({ member }) => member === name);
        return field === undefined ? [name, problem] : [field.name, field.problem ?? problem];
      }),
    );

  return formPages({
    path,
    isSensitive,
    show: (context, refused?: Refused, status = 200) =>
      context.show(
        'new',
        { ...shown, labels, values: {}, ...refused, errors: namedHere(refused?.errors ?? {}) },
        status,
      ),
    submit(context) {
      const body = fields.map(({ name, member = name, toMember = (text) => text.trim() }) => [
        member,
        toMember(context.form.get(name) ?? ''),
      ]);
      return create(context, Object.fromEntries(body));
    },
  });
}
