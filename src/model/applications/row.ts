// What has to be said of a fact of an application beside what every row says.
import { type Row, rowWith } from '../row.ts';

/** What an application is, and how people call that. */
export const applicationKinds = { openid: 'OpenID Connect' } as const;
type ApplicationKind = keyof typeof applicationKinds;

/** Where the form of the Admin UI has it, in this order; null: only the API. */
type FormPart = 'main' | 'sign_in' | 'pages' | 'signatures' | 'legacy' | null;

interface OfApplications {
  /** Which kinds of applications may have it. */
  readonly kinds: 'every' | readonly ApplicationKind[];
  readonly form: FormPart;
  /** Whether an application that nobody vouched for may have it (src/clients/quarantine.ts). */
  readonly isForAgents: boolean;
  /** Only where people sign in to it, or where it authenticates; absent: in every form. */
  readonly only?: 'sign_in' | 'confidential';
  /** In the OpenAPI document. */
  readonly example?: unknown;
}

export type ApplicationFact = Row<unknown> & OfApplications;

/** @param kind absent in a record: the first of them */
export const isOfKind = (
  { kinds }: Row<unknown> & Partial<Pick<OfApplications, 'kinds'>>,
  kind: unknown = 'openid',
): boolean => !Array.isArray(kinds) || kinds.includes(kind);

/** @returns of which kinds it is, for programs; nothing where it is of every one */
export const onlyOf = ({ kinds }: ApplicationFact): string =>
  kinds === 'every' || kinds.length === Object.keys(applicationKinds).length
    ? ''
    : ` Only of kind ${kinds.map((kind) => `\`${kind}\``).join(', ')}.`;

export const fact = rowWith<OfApplications>();

/** What an administrator decides about it. */
export const byAdministrators = {
  setBy: 'administrator',
  shownTo: 'administrator',
  sensitivity: 'sensitive',
  reported: 'value',
  kinds: 'every',
  isForAgents: true,
  form: null,
  hint: null,
} as const;

/** The same of a client of the protocol. */
export const ofClients = { ...byAdministrators, kinds: ['openid'] } as const;

/** What a client says about itself (RFC 7591 §2). */
export const byRegistrants = {
  ...ofClients,
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
} as const;
