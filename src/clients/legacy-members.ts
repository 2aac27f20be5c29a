// Metadata members that only the legacy profile knows (legacy.ts).
export const legacyMembers = {
  request_uris: {
    type: 'strings',
    description:
      'Addresses of its signed request objects, compared as they are written; a fragment is a SHA-256 in base64url, naming the version of the content. Needs `profile`: `legacy`.',
  },
  request_object_signing_alg: {
    type: 'string',
    description:
      'The one algorithm of its request objects; absent: any asymmetric one. Needs `profile`: `legacy`.',
  },
  require_signed_request_object: {
    type: 'boolean',
    description:
      'Only requests by a signed request object are accepted (RFC 9101 §10.5). Needs `profile`: `legacy`, and counts while the setting `legacy_profiles` is on.',
  },
  frontchannel_logout_uri: {
    type: 'string',
    description:
      'Loaded in a frame when the session of a browser ends; of the same origin as a redirect URI. Needs the setting `legacy_profiles`.',
  },
  frontchannel_logout_session_required: {
    type: 'boolean',
    description: 'Whether that address must be given `iss` and `sid`; it always is.',
  },
} as const;
