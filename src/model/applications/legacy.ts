// What only applications with the legacy profile know (src/clients/legacy.ts): stored apart, so that without the setting
// `legacy_profiles` an application is what it would be if there were none of it.
import { flag } from '../kinds.ts';
import { address, list, oneOf } from './member-kinds.ts';
import { byRegistrants, fact } from './row.ts';
import { requestObjectAlgorithms } from './vocabulary.ts';

export const legacyRows = {
  request_uris: fact(
    list({ schema: { maxItems: 8, items: { type: 'string', format: 'uri', maxLength: 2000 } } }),
    {
      ...byRegistrants,
      stored: 'legacyMetadata.request_uris',
      label: 'Request objects',
      hint: 'One per line. Addresses of its signed request objects.',
      description:
        'Addresses of its signed request objects, compared as they are written; a fragment is a SHA-256 in base64url, naming the version of the content. Needs `profile`: `legacy`.',
      form: 'legacy',
    },
  ),
  request_object_signing_alg: fact(oneOf(requestObjectAlgorithms), {
    ...byRegistrants,
    stored: 'legacyMetadata.request_object_signing_alg',
    label: 'Algorithm of request objects',
    description:
      'The one algorithm of its request objects; absent: any asymmetric one. Needs `profile`: `legacy`.',
  }),
  require_signed_request_object: fact(flag, {
    ...byRegistrants,
    stored: 'legacyMetadata.require_signed_request_object',
    label: 'Signed request objects only',
    description:
      'Only requests by a signed request object are accepted (RFC 9101 §10.5). Needs `profile`: `legacy`, and counts while the setting `legacy_profiles` is on.',
  }),
  frontchannel_logout_uri: fact(address(), {
    ...byRegistrants,
    stored: 'legacyMetadata.frontchannel_logout_uri',
    label: 'Front-channel sign-out',
    hint: 'Loaded in a frame when a browser signs out; of the same origin as a redirect URI. Does not need the profile.',
    description:
      'Loaded in a frame when the session of a browser ends; of the same origin as a redirect URI. Needs the setting `legacy_profiles`.',
    form: 'legacy',
  }),
  frontchannel_logout_session_required: fact(flag, {
    ...byRegistrants,
    stored: 'legacyMetadata.frontchannel_logout_session_required',
    label: 'Front-channel sign-out with sid',
    description: 'Whether that address must be given `iss` and `sid`; it always is.',
  }),
} as const;
