// What has to be said of a fact of an application beside what every row says.
import { type Row, rowWith } from '../row.ts';

/** Where the form of the Admin UI has it, in this order; null: only the API. */
type FormPart = 'main' | 'sign_in' | 'pages' | 'signatures' | 'legacy' | null;

interface OfApplications {
  readonly form: FormPart;
  /** Whether an application that nobody vouched for may have it (src/clients/quarantine.ts). */
  readonly isForAgents: boolean;
  /** Only where people sign in to it, or where it authenticates; absent: in every form. */
  readonly only?: 'sign_in' | 'confidential';
  /** In the OpenAPI document. */
  readonly example?: unknown;
}

export type ApplicationFact = Row<unknown> & OfApplications;

export const fact = rowWith<OfApplications>();

/** What an administrator decides about it. */
export const byAdministrators = {
  setBy: 'administrator',
  shownTo: 'administrator',
  sensitivity: 'sensitive',
  isExported: true,
  reported: 'value',
  isForAgents: true,
  form: null,
  hint: null,
} as const;

/** What an application says about itself (RFC 7591 §2). */
export const byRegistrants = {
  ...byAdministrators,
  absent: undefined,
  setBy: 'registrant',
  shownTo: 'everyone',
  isForAgents: false,
} as const;

/** What one may say, too, that nobody vouched for. */
export const byAgents = { ...byRegistrants, isForAgents: true } as const;

/** Read-only. */
export const byServer = {
  ...byAdministrators,
  setBy: 'server',
  sensitivity: 'plain',
  isExported: false,
} as const;
