import { type Client, errors } from 'oidc-provider';

/**
 * The library checks the response type when the request arrives; by the end of the sign-in the profile may have ended (decision 0026). @throws UnsupportedResponseType
 */
export function refuseWithdrawnType(type: unknown, client: Client): void {
  if (typeof type !== 'string' || type === 'code') return;
  if (client.responseTypes?.some((one) => one === type)) return;
  throw new errors.UnsupportedResponseType();
}
