// An application by its rows (src/model/applications/): what is shown of it, and what administrators decide about it.
import { walk } from '../api/walk.ts';
import { AppError } from '../errors.ts';
import { isOfKind } from '../model/applications/row.ts';
import { applicationRows, memberRows } from '../model/applications/rows.ts';
import { settingRows } from '../model/applications/settings.ts';
import type { Row, Specials, View } from '../model/row.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Stored } from '../store/port.ts';
import { scopeWithAccount } from './account-scopes.ts';
import { approvedAddressesOf } from './approved-addresses.ts';
import { hasToUsePkce } from './pkce.ts';
import { rotationOf } from './refresh-rotation.ts';

/** A stored client; the id is the client_id. */
export type Client = Stored<ClientRecord>;

/** By wire name, unvalidated. */
export type GivenSettings = { readonly [Name in keyof typeof settingRows]?: unknown };

const specials: Specials<typeof settingRows, ClientRecord> = {
  require_pkce: {
    show: hasToUsePkce,
    settle(record, to) {
      if (to !== true) return { requirePkce: undefined };
      // What its kind or the ratchet requires and comes back as shown is nobody's choice; the rest is somebody's decision now.
      return hasToUsePkce(record) ? {} : { requirePkce: true, pkceRequiredAt: undefined };
    },
  },
  // The id of the API comes with it, where the application is written (clients.ts).
  default_resource: {
    show: ({ defaultApi }) => defaultApi?.identifier ?? null,
    settle: (_, to) => (to === null ? { defaultApi: undefined } : {}),
  },
  rotate_refresh_tokens: {
    show: rotationOf,
    settle: (_, to) => ({ rotateRefreshTokens: to ?? undefined }),
  },
  // They follow from all its addresses (approved-addresses.ts).
  approved_addresses: { show: approvedAddressesOf, settle: () => ({}) },
};

const mayHave = ({ kind }: ClientRecord, row: Row<unknown>): boolean => isOfKind(row, kind);

const settings = walk(settingRows, specials, mayHave);
const whole = walk(
  applicationRows,
  {
    ...specials,
    pkce_required_at: {
      show: ({ requirePkce, pkceRequiredAt: at }) =>
        requirePkce === true && at !== undefined ? new Date(at).toISOString() : null,
    },
  },
  mayHave,
);

const isSetting = (name: string): name is keyof GivenSettings => Object.hasOwn(settingRows, name);

export const refusal = (fields: Readonly<Record<string, string>>, cause?: unknown): AppError =>
  new AppError('client.invalid_metadata', { fields, cause });

/** @throws AppError client.invalid_metadata */
export function withSettings(record: ClientRecord, given: GivenSettings): ClientRecord {
  const { next, problems } = settings.change(record, given, { by: 'administrator' });
  if (problems.size > 0) throw refusal(Object.fromEntries(problems));
  return next;
}

/** @throws AppError client.invalid_metadata for what its kind may not have */
export function checkKind(record: ClientRecord, given: object = {}): void {
  const others = Object.entries<Row<unknown>>(memberRows).filter(
    ([name, row]) => Object.hasOwn(given, name) && !mayHave(record, row),
  );
  if (others.length > 0) throw refusal(Object.fromEntries(others.map(([name]) => [name, 'Unknown field.'])));
}

/** Members of the legacy profile are shown where they count now, and as what they are. */
const asShown = (record: ClientRecord): ClientRecord => {
  const metadata = { ...record.metadata, scope: scopeWithAccount(record) };
  return { ...record, metadata, legacyMetadata: metadata };
};

/** @returns the client as the admin API shows it: never a secret */
export const toClient = ({ value }: Client) => whole.show(asShown(value));
export type ClientView = View<typeof applicationRows>;

/** @returns what it may know of itself: its metadata, and that it has to use PKCE */
export const publicMetadata = (record: ClientRecord) => whole.show(asShown(record), 'everyone');

interface ReadClient {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly settings: GivenSettings;
}

/**
 * Reads the flat JSON object that administrators write: RFC 7591 metadata and our settings side by side, and `client_type` as a
 * shorthand for the authentication method. Both are validated where the application is written.
 * @throws AppError client.invalid_metadata
 */
export function readClient(body: object): ReadClient {
  const members = Object.entries<unknown>({ ...body });
  const part = (isOfSettings: boolean): Record<string, unknown> =>
    Object.fromEntries(members.filter(([name]) => isSetting(name) === isOfSettings));
  const { client_type: type, ...metadata } = part(false);
  return { metadata: type === undefined ? metadata : withType(metadata, type), settings: part(true) };
}

function withType(metadata: Readonly<Record<string, unknown>>, type: unknown): Record<string, unknown> {
  if (type !== 'public' && type !== 'confidential')
    throw refusal({ client_type: 'Must be one of confidential, public.' });
  const { token_endpoint_auth_method: said } = metadata;
  const method = said ?? (type === 'public' ? 'none' : 'client_secret_basic');
  if ((method === 'none') !== (type === 'public'))
    throw refusal({ client_type: 'Must be public exactly when token_endpoint_auth_method is none.' });
  return { ...metadata, token_endpoint_auth_method: method };
}
