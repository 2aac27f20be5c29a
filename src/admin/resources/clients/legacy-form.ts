// The legacy profile on the page of an application (docs/legacy.md): shown while the setting is on, or where it is used.
import { legacyResponseTypes, profileSetting } from '../../../clients/index.ts';
import { linesOf, textOrNull } from '../../pages/field-values.ts';
import type { AdminContext, Values } from '../../pages/page.ts';
import { hasLegacyProfiles } from '../settings/legacy.ts';

const fieldOf = (type: string): string => `response.${type}`;

export const legacyTypes = legacyResponseTypes.map((type) => ({ name: fieldOf(type), label: type }));

/** Whether the form has this part. */
export async function hasLegacyPart(context: AdminContext, client: Values): Promise<boolean> {
  const isUsed = client.profile !== null || client.frontchannel_logout_uri !== undefined;
  return isUsed || hasLegacyProfiles(context);
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The values of the form, one text per field. */
export const legacyValues = (client: Values): Values => ({
  profile: client.profile === null ? '' : 'on',
  request_uris: listed(client.request_uris).join('\n'),
  frontchannel_logout_uri: client.frontchannel_logout_uri ?? '',
  ...Object.fromEntries(
    legacyResponseTypes.map((type) => [
      fieldOf(type),
      listed(client.response_types).includes(type) ? 'on' : '',
    ]),
  ),
});

/** Converts the form's values to the API's; nothing where the form had no such part. */
export function legacyBody(textIn: (name: string) => string | undefined): Values {
  if (textIn('has_legacy') !== 'on') return {};
  const [profile] = profileSetting.values;
  const hasProfile = textIn('profile') === 'on';
  const types = legacyResponseTypes.filter((type) => textIn(fieldOf(type)) === 'on');
  const uris = linesOf(textIn('request_uris'));
  return {
    profile: hasProfile ? profile : null,
    frontchannel_logout_uri: textOrNull(textIn('frontchannel_logout_uri')),
    // Without the profile there is nothing to keep.
    request_uris: hasProfile && uris.length > 0 ? uris : null,
    response_types: [
      ...(textIn('grant.authorization_code') === 'on' ? ['code'] : []),
      ...(hasProfile ? types : []),
    ],
  };
}

/** Boxes that a form leaves out when they are not ticked. */
export const legacyBoxes: Values = {
  profile: '',
  ...Object.fromEntries(legacyTypes.map(({ name }) => [name, ''])),
};
