// The codes that this server redeems itself (RFC 6749 §4.1.3), and nobody else (vouched-requests.ts): those of our own pages, and of
// applications that are tried. What is issued for them stays in this process.
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { epochSeconds } from '../clock.ts';
import { requestAccount } from './entitlements/find-account.ts';
import { answerGrant, runIn } from './library-internals.ts';
import { clientRecord } from './models/client.ts';
import type { MountedDoors } from './mounted-doors.ts';
import { inFormOfRequest } from './provider-middleware.ts';
import { tokenRequest, userinfoFor } from './token-request.ts';

export interface CodeToRedeem {
  readonly clientId: string;
  readonly code: string;
  readonly redirectUri: string;
  /** RFC 7636 §4.1. */
  readonly verifier: string;
  /** The API that the authorization request named. */
  readonly resource?: string | undefined;
}

/** As the endpoint answers an application. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Redeemed {
  readonly token: Answer;
  /** Who signed in; absent: it was refused. */
  readonly subject?: string | undefined;
  /** Of the authorization request. */
  readonly nonce?: string | undefined;
  /** What the access token reads. */
  readonly userinfo: () => Promise<Answer>;
}

export type RedeemCode = (code: CodeToRedeem) => Promise<Redeemed>;

const answerOf = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });

/** @throws what is no answer of the protocol */
function refusalOf(error: unknown): Answer {
  if (!(error instanceof errors.OIDCProviderError) || error.statusCode >= 500) throw error;
  const { statusCode, error: code, error_description: description } = error;
  return answerOf(statusCode, { error: code, error_description: description });
}

export function createRedeemCode({ mount, directory, apis, clock }: MountedDoors): RedeemCode {
  async function grant(ctx: KoaContextWithOIDC): Promise<void> {
    const { provider } = mount;
    try {
      await answerGrant(provider, ctx);
    } catch (error) {
      provider.emit('grant.error', ctx, error);
      throw error;
    }
    provider.emit('grant.success', ctx);
  }

  async function userinfo(ctx: KoaContextWithOIDC): Promise<Answer> {
    const read = userinfoFor(ctx, directory);
    const { client } = ctx.oidc;
    if (read === undefined || client === undefined)
      return refusalOf(new errors.InvalidToken('not for userinfo'));
    const { metadata } = clientRecord(client);
    const { userinfo_signed_response_alg: signed, userinfo_encrypted_response_alg: encrypted } = metadata;
    if (signed === undefined && encrypted === undefined) return answerOf(200, read.claims);
    const jwt = new mount.provider.IdToken({ ...read.claims }, { ctx });
    jwt.scope = read.scopes.join(' ');
    const expiresAt = epochSeconds(clock) + (ctx.oidc.entities.AccessToken?.expiration ?? 0);
    return { status: 200, body: await jwt.issue({ use: 'userinfo', expiresAt }) };
  }

  async function redeem({ clientId, resource, ...sent }: CodeToRedeem): Promise<Redeemed> {
    const { provider } = mount;
    const client = await provider.Client.find(clientId);
    if (client === undefined) throw new errors.InvalidClient('client is invalid', 'client not found');
    const api = resource === undefined ? undefined : await apis.findByIdentifier(resource);
    const params = {
      grant_type: 'authorization_code',
      code: sent.code,
      redirect_uri: sent.redirectUri,
      code_verifier: sent.verifier,
    };
    const isProofDemanded = api?.value.isDpopRequired === true;
    const ctx = await tokenRequest({ provider, clock }, client, params, isProofDemanded);
    return runIn(ctx, async () => {
      ctx.oidc.entity('Client', client);
      await grant(ctx);
      const { body } = ctx;
      if (typeof body !== 'object' || body === null)
        throw new TypeError('the token endpoint answered nothing');
      return {
        token: answerOf(200, inFormOfRequest(ctx.oidc, body)),
        subject: requestAccount(ctx)?.id,
        nonce: ctx.oidc.entities.AuthorizationCode?.nonce,
        userinfo: () => runIn(ctx, () => userinfo(ctx)),
      };
    });
  }

  return async (code) => {
    try {
      return await redeem(code);
    } catch (error) {
      const token = refusalOf(error);
      return { token, userinfo: async () => token };
    }
  };
}
