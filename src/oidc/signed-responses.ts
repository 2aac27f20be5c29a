// Signed authorization responses (JARM), for applications whose administrator set `authorization_signed_response_alg`. The library
// has the response modes for all or for nobody; here all others keep what they have without them: the modes are not known.
import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { signedResponseModes } from '../model/applications/vocabulary.ts';
import { clientRecord } from './models/client.ts';
import type { ProviderBase } from './provider-base.ts';

const isSignedMode = (mode: unknown): boolean => signedResponseModes.some((one) => one === mode);

const mayHaveSigned = (client: Client): boolean => clientRecord(client).signedResponseAlg !== undefined;

/** @throws UnsupportedResponseMode */
export function refuseSignedMode(mode: unknown, client: Client): void {
  if (isSignedMode(mode) && !mayHaveSigned(client)) throw new errors.UnsupportedResponseMode();
}

/**
 * The library answers an error in the mode that was asked for, whatever the client may use
 * (lib/shared/authorization_error_handler.js); it reads the mode after these events.
 */
export function keepErrorsUnsigned(provider: Pick<InstanceType<typeof ProviderBase>, 'on'>): void {
  const keep = ({ oidc }: KoaContextWithOIDC): void => {
    const { client, params } = oidc;
    if (client === undefined || params === undefined || mayHaveSigned(client)) return;
    if (isSignedMode(params.response_mode)) params.response_mode = undefined;
  };
  provider.on('authorization.error', keep);
  provider.on('server_error', keep);
}

/** Keeps the JWT for the page of `form_post.jwt` (provider-middleware.ts). @returns it */
export function noteSignedResponse(
  ctx: KoaContextWithOIDC | undefined,
  client: Client | undefined,
  response: string,
): string {
  // No way leads here, and none may.
  if (ctx === undefined || client === undefined || !mayHaveSigned(client))
    throw new TypeError('a signed response for an application that has none');
  ctx.state.authorizationResponse = { response };
  return response;
}

/** Discovery without what no application here has. @returns the members to change */
export const unsignedDiscovery = (modes: readonly unknown[]): Readonly<Record<string, unknown>> => ({
  response_modes_supported: modes.filter((mode) => !isSignedMode(mode)),
  authorization_signing_alg_values_supported: undefined,
});
