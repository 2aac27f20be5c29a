// The texts of rows in src/model: what pages show of a fact wherever they show it.

import { Phrase } from '../../src/phrase.ts';
import { modelRows } from '../model-rows.ts';
import type { Found } from './sources.ts';

export const textsOfRows = (): Found[] =>
  modelRows.flatMap(({ row: { label, hint, kind }, file }) =>
    [label, hint ?? '', ...Object.values(kind.words ?? {}), ...kind.problems]
      .map((text) => (text instanceof Phrase ? text.key : text))
      .filter((text) => text !== '')
      .map((text) => ({ text, at: file })),
  );
