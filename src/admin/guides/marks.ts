// How a guide is known to work, in words; the same in the Admin UI and in docs/guides/.
import { dateFormat } from '../../dates.ts';
import type { Mark } from './guide.ts';

export interface MarkText {
  readonly label: string;
  readonly text: string;
  readonly tone: 'good' | 'strong' | '';
}

const monthOf = (day: string): string =>
  dateFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(day));

const dayOf = (day: string): string =>
  dateFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day));

/** @param day when it was last checked, such as `2026-11-24` */
export function markOf(mark: Mark, day: string): MarkText {
  switch (mark.how) {
    case 'run':
      return {
        label: 'Run here',
        text: `The tests of this product run these lines: ${mark.with} (${dayOf(day)}).`,
        tone: 'good',
      };
    case 'parsed':
      return {
        label: 'Parsed',
        text: `From the vendor’s manual (${monthOf(day)}); the tests of this product check its syntax, but do not run it.`,
        tone: 'strong',
      };
    case 'manual':
      return {
        label: 'From the manual',
        text: `From the vendor’s manual (${monthOf(day)}); neither run nor parsed by the tests of this product.`,
        tone: '',
      };
  }
}
