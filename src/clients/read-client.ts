// Reads the flat JSON object that administrators write: RFC 7591 metadata and our settings side by side, and `client_type`
// as a shorthand for the authentication method.
import { AppError } from '../errors.ts';
import { readSettings, type SettingChanges, settingNames } from './client-settings.ts';

export interface ReadClient {
  readonly metadata: Record<string, unknown>;
  readonly settings: SettingChanges;
}

const refuse = (fields: Record<string, string>): never => {
  throw new AppError('client.invalid_metadata', { fields });
};

/** @throws AppError client.invalid_metadata for invalid settings; metadata is validated later */
export function readClient(body: object): ReadClient {
  const members = Object.entries(body);
  const pick = (isSetting: boolean): Record<string, unknown> =>
    Object.fromEntries(members.filter(([name]) => settingNames.has(name) === isSetting));
  const { client_type: type, ...metadata } = pick(false);
  const { changes, problems } = readSettings(pick(true));
  if (Object.keys(problems).length > 0) refuse(problems);
  return { metadata: type === undefined ? metadata : withType(metadata, type), settings: changes };
}

function withType(metadata: Record<string, unknown>, type: unknown): Record<string, unknown> {
  if (type !== 'public' && type !== 'confidential') {
    return refuse({ client_type: 'Must be one of confidential, public.' });
  }
  const byType = type === 'public' ? 'none' : 'client_secret_basic';
  const method = metadata.token_endpoint_auth_method ?? byType;
  if ((method === 'none') !== (type === 'public')) {
    return refuse({ client_type: 'Must be public exactly when token_endpoint_auth_method is none.' });
  }
  return { ...metadata, token_endpoint_auth_method: method };
}
