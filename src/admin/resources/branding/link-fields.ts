// The links of a look as fields of its form: a fixed number of rows, so that the form needs no script; one that is left empty is none.
import { AppError } from '../../../errors.ts';
import type { Form } from '../../../http/index.ts';
import { languages } from '../../../views/index.ts';
import { textOrNull } from '../../pages/field-values.ts';
import { branding } from './resource.ts';
import type { LookView } from './schema.ts';

/** As many as a look may have. */
export const linkRows = [0, 1, 2, 3, 4, 5] as const;

const urlField = (row: number): string => `links.${row}.url`;
const labelField = (row: number, language: string): string => `links.${row}.labels.${language}`;

export const linkValuesOf = ({ links }: Pick<LookView, 'links'>): Record<string, string> =>
  Object.fromEntries(
    linkRows.flatMap((row) => [
      [urlField(row), links[row]?.url ?? ''],
      ...languages.map((language) => [labelField(row, language), links[row]?.labels[language] ?? '']),
    ]),
  );

function rowIn(form: Form, row: number) {
  const labels = languages.flatMap((language) => {
    const label = textOrNull(form.get(labelField(row, language)));
    return label === null ? [] : [[language, label] as const];
  });
  const url = textOrNull(form.get(urlField(row)));
  return url === null && labels.length === 0 ? undefined : { url: url ?? '', labels };
}

export const linksIn = (form: Form): object[] =>
  linkRows.flatMap((row) => {
    const link = rowIn(form, row);
    return link === undefined ? [] : [{ ...link, labels: Object.fromEntries(link.labels) }];
  });

/** By the rules of the API, which names `links` as a whole. */
const isAllowed = (link: object): boolean => {
  try {
    branding.change.check.body.parse({ links: [link] });
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
};

const URL_PROBLEM = 'Must be an address with https: or mailto:.';
const WORDS_PROBLEM = 'Must be at most 40 characters on one line.';
const harmless = 'https://example.com/';

/** @returns what is wrong by field, and the rows that it is in */
export function problemsOfLinks(form: Form) {
  const wrong = linkRows.flatMap((row) => {
    const { url, labels } = rowIn(form, row) ?? { url: harmless, labels: [] };
    const words = labels.filter(
      ([language, label]) => !isAllowed({ url: harmless, labels: { [language]: label } }),
    );
    return [
      ...(isAllowed({ url, labels: {} }) ? [] : [{ row, field: urlField(row), problem: URL_PROBLEM }]),
      ...words.map(([language]) => ({ row, field: labelField(row, language), problem: WORDS_PROBLEM })),
    ];
  });
  return {
    rows: wrong.map(({ row }) => row),
    fields: Object.fromEntries(wrong.map(({ field, problem }) => [field, problem])),
  };
}
