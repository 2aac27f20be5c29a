// oidc-provider with our models in place of some of its own; each file in models/ says what its model changes, and why.
import type { Configuration } from 'oidc-provider';
import { createAuthorizationCodeModel } from './models/authorization-code.ts';
import { createClientModel } from './models/client.ts';
import { createDeviceCodeModel } from './models/device-code.ts';
import { createGrantModel } from './models/grant.ts';
import { createIdTokenModel } from './models/id-token.ts';
import { createInteractionModel } from './models/interaction.ts';
import { createAccessTokenModel, createClientCredentialsModel } from './models/jwt-format.ts';
import { createOIDCContextModel } from './models/oidc-context.ts';
import { createRefreshTokenModel } from './models/refresh-token.ts';
import { createReplayDetectionModel } from './models/replay-detection.ts';
import { createSessionModel } from './models/session.ts';
import type { SessionUseDeps } from './models/session-use.ts';
import { type Models, ProviderBase } from './provider-base.ts';

type SessionModelDeps = Parameters<typeof createSessionModel>[1];

type ModelDeps = Parameters<typeof createAccessTokenModel>[1] &
  Parameters<typeof createAuthorizationCodeModel>[1] &
  Parameters<typeof createRefreshTokenModel>[1] &
  Parameters<typeof createDeviceCodeModel>[1] &
  Parameters<typeof createInteractionModel>[1] &
  Parameters<typeof createOIDCContextModel>[1] &
  Parameters<typeof createClientModel>[1] & {
    readonly sessions: Omit<SessionModelDeps & SessionUseDeps, 'settings'>;
    readonly settings: SessionModelDeps['settings'];
  };

export class IdentityProvider extends ProviderBase {
  readonly #deps: ModelDeps;
  readonly #models: Partial<Models> = {};

  constructor(issuer: string, configuration: Configuration, deps: ModelDeps) {
    super(issuer, configuration);
    this.#deps = deps;
  }

  override get AccessToken(): Models['AccessToken'] {
    this.#models.AccessToken ??= createAccessTokenModel(super.AccessToken, this.#deps);
    return this.#models.AccessToken;
  }

  override get AuthorizationCode(): Models['AuthorizationCode'] {
    this.#models.AuthorizationCode ??= createAuthorizationCodeModel(super.AuthorizationCode, this.#deps);
    return this.#models.AuthorizationCode;
  }

  override get ClientCredentials(): Models['ClientCredentials'] {
    this.#models.ClientCredentials ??= createClientCredentialsModel(super.ClientCredentials, this.#deps);
    return this.#models.ClientCredentials;
  }

  override get RefreshToken(): Models['RefreshToken'] {
    this.#models.RefreshToken ??= createRefreshTokenModel(super.RefreshToken, this.#deps);
    return this.#models.RefreshToken;
  }

  override get DeviceCode(): Models['DeviceCode'] {
    this.#models.DeviceCode ??= createDeviceCodeModel(super.DeviceCode, this.#deps);
    return this.#models.DeviceCode;
  }

  override get Session(): Models['Session'] {
    const { sessions, settings } = this.#deps;
    this.#models.Session ??= createSessionModel(super.Session, { ...sessions, settings });
    return this.#models.Session;
  }

  override get Interaction(): Models['Interaction'] {
    this.#models.Interaction ??= createInteractionModel(super.Interaction, this.#deps);
    return this.#models.Interaction;
  }

  override get Grant(): Models['Grant'] {
    this.#models.Grant ??= createGrantModel(super.Grant, this.#deps);
    return this.#models.Grant;
  }

  override get IdToken(): Models['IdToken'] {
    this.#models.IdToken ??= createIdTokenModel(super.IdToken);
    return this.#models.IdToken;
  }

  override get Client(): Models['Client'] {
    this.#models.Client ??= createClientModel(super.Client, this.#deps);
    return this.#models.Client;
  }

  override get OIDCContext(): Models['OIDCContext'] {
    this.#models.OIDCContext ??= createOIDCContextModel(super.OIDCContext, this.#deps);
    return this.#models.OIDCContext;
  }

  override get ReplayDetection(): Models['ReplayDetection'] {
    this.#models.ReplayDetection ??= createReplayDetectionModel(super.ReplayDetection);
    return this.#models.ReplayDetection;
  }
}
