// An application for devices, as tests register it (RFC 8628).
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export const television = {
  client_name: 'Television',
  application_type: 'native',
  redirect_uris: [],
  response_types: [],
  grant_types: [DEVICE_GRANT],
  token_endpoint_auth_method: 'none',
};
