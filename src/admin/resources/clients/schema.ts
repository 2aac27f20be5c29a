// The JSON of applications in the admin API, by their rows: metadata (RFC 7591), settings, and what the server says.
import type { TProperties } from 'typebox';
import { groupNamePattern } from '../../../accounts/index.ts';
import { applicationRows, memberRows } from '../../../model/applications/rows.ts';
import { settingRows } from '../../../model/applications/settings.ts';
import { type How, propertiesOf } from '../../api/row-schemas.ts';
import { object, optional, string } from '../../api/schema-parts.ts';
import { addressesSchema } from './called-addresses.ts';

const given: How = {
  isGiven: true,
  documented: {
    allowed_groups: { pattern: groupNamePattern },
    web_origins: { pattern: '^https?://[^/?#@ ]+$' },
  },
};

const shown = propertiesOf(applicationRows, { isGiven: false });
const replaced: TProperties = { ...propertiesOf(memberRows, given), ...propertiesOf(settingRows, given) };
const { client_type: type } = propertiesOf({ client_type: applicationRows.client_type }, given);

/** `client_type` is accepted instead of `token_endpoint_auth_method`. */
export const newClientSchema = object({ ...replaced, ...(type && { client_type: optional(type) }) });

export const replacedClientSchema = object(replaced);

const changed = propertiesOf(memberRows, { ...given, isCleared: true });
export const changedClientSchema = object({ ...replaced, ...changed });

const viewWith = (more: TProperties) =>
  object({ ...shown, ...more }, 'An application: metadata (RFC 7591) and settings.');

export const clientSchema = viewWith({});

export const clientWithSecretSchema = viewWith({
  client_secret: optional(
    string({ description: 'The new secret; only this response contains it.', examples: ['kX3n…'] }),
  ),
  unreachable: optional(
    addressesSchema('The addresses of this request that this server cannot call; absent: it can call all.'),
  ),
});
