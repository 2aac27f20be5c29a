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

export const csrf = 'csrf-token-0123456789abcdef';
export const interaction = 'Vb3qZk1x9rT0';
export const noErrors = {};
