// The legacy profile on the page of an application (docs/legacy.md): shown while the setting is on, or where it is used.
import type { AdminContext, Values } from '../../pages/page.ts';
import { hasLegacyProfiles } from '../settings/legacy.ts';
import { templateOf } from './template-of.ts';

/** Whether the form has this part. */
export async function hasLegacyPart(context: AdminContext, client: Values): Promise<boolean> {
  const isUsed = client.profile !== null || client.frontchannel_logout_uri !== undefined;
  const template = templateOf(client);
  return (template === 'web' || template === 'spa') && (isUsed || (await hasLegacyProfiles(context)));
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** @returns the body with the response types as they are together; without the profile there is nothing to keep */
export function withLegacyBody(body: Values): Values {
  if (!Object.hasOwn(body, 'profile')) return body;
  const hasCode = listed(body.grant_types).includes('authorization_code');
  const types = body.profile === null ? [] : listed(body.response_types);
  return {
    ...body,
    ...(body.profile === null && { request_uris: null }),
    response_types: [...(hasCode ? ['code'] : []), ...types],
  };
}
