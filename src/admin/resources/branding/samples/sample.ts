// The type of a sample: a page and a matching model.
import type { PageModels, PageName } from '../../../../views/index.ts';

export interface Sample<T extends PageName = PageName> {
  readonly template: T;
  readonly model: PageModels[T];
  readonly formAction?: readonly string[];
}

export const sample = <T extends PageName>(
  template: T,
  model: PageModels[T],
  formAction?: readonly string[],
): Sample<T> => ({
  template,
  model,
  ...(formAction ? { formAction } : {}),
});

type Named<T extends string, S extends string> = T | `${T}-${Exclude<S, ''>}`;

/** A page, and its states by what each has otherwise. @param states '' for the page as such, where that has something otherwise */
export function statesOf<T extends PageName, S extends string>(
  template: T,
  model: PageModels[T],
  states: Readonly<Record<S, Partial<PageModels[T]>>>,
): { readonly [Name in Named<T, S>]: Sample<T> };
export function statesOf(template: PageName, model: object, states: object): object {
  const named = Object.entries<object>({ '': {}, ...states }).map(([state, own]) => [
    state === '' ? template : `${template}-${state}`,
    { template, model: { ...model, ...own } },
  ]);
  return Object.fromEntries(named);
}

export const csrf = 'csrf-token-0123456789abcdef';
export const interaction = 'Vb3qZk1x9rT0';
export const noErrors = {};
