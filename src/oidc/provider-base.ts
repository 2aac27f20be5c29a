// Re-types oidc-provider: its models are accessors at run time, but @types/oidc-provider declares them as properties, which
// a subclass cannot override with accessors (TS2611).
import Provider, {
  type AccessToken,
  type AdapterPayload,
  type AuthorizationCode,
  type Client,
  type ClientCredentials,
  type ClientMetadata,
  type Configuration,
  type DeviceCode,
  type Grant,
  type IdToken,
  type Interaction,
  type KoaContextWithOIDC,
  type OIDCContext,
  type RefreshToken,
  type Session,
  type TokenEndpointGrantContext,
} from 'oidc-provider';

/** Members that every model has at run time but that the types omit. */
export interface ModelInternals {
  /** The stored payload and the value that goes to the client (lib/models/base_model.js). */
  getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }>;
  generateTokenId(): string;
}

type FindOptions = { ignoreExpiration?: boolean };

/** A model class as its subclasses need it: constructable from a payload, with `find` and `IN_PAYLOAD`. */
export interface ModelClass<Model> {
  new (...payload: never[]): Model & ModelInternals;
  readonly name: string;
  readonly IN_PAYLOAD: string[];
  find(value: string, options?: FindOptions): Promise<Model | undefined>;
  instantiate(payload: AdapterPayload): Model;
  verify(stored: AdapterPayload, options?: FindOptions): Promise<AdapterPayload>;
}

/** The types omit the keys. */
export type ClientWithKeys = Client & { readonly asymmetricKeyStore: ClientKeys };

/** The keys of a client, fetched from its `jwks_uri` when they are not fresh (lib/models/client.js). */
export interface ClientKeys extends Iterable<{ readonly kid?: string }> {
  /** Epoch seconds. */
  freshUntil?: number;
  fresh(): boolean;
  refresh(): Promise<void>;
}

export interface ClientClass {
  new (metadata: ClientMetadata, ctx?: KoaContextWithOIDC): ClientWithKeys;
  find(id: string): Promise<ClientWithKeys | undefined>;
  needsSecret(metadata: Record<string, unknown>): boolean;
}

declare const PlainContext: new (
  ctx: KoaContextWithOIDC,
) => Omit<OIDCContext, 'prompts' | 'urlFor'> & {
  once(event: string, listener: (...args: never[]) => void): void;
};

declare class ContextWithAccessors extends PlainContext {
  get prompts(): Set<string>;
  urlFor(name: string, options?: Record<string, unknown>): string;
}

export type OIDCContextClass = typeof ContextWithAccessors;

export interface SessionClass extends ModelClass<Session> {
  get(ctx: unknown): Promise<Session>;
  findByUid(uid: string): Promise<Session | undefined>;
}

export interface GrantClass extends ModelClass<Grant> {
  new (properties: { accountId: string; clientId: string }): Grant & ModelInternals;
}

export interface TokenClass<Model> extends ModelClass<Model> {
  new (properties: Record<string, unknown>): Model & ModelInternals;
}

export interface DeviceCodeClass extends TokenClass<DeviceCode> {
  findByUserCode(userCode: string, options?: FindOptions): Promise<DeviceCode | undefined>;
}

/** The types require a context; a logout token has none. */
export interface IdTokenModel {
  readonly ctx?: KoaContextWithOIDC;
  readonly client: Client | undefined;
  /** Of these scopes it shows the claims. */
  scope?: string;
  /** The claims that were set. */
  readonly extra: Readonly<Record<string, unknown>>;
  set(claim: string, value: unknown): void;
  issue(options: {
    use: 'idtoken' | 'logout' | 'userinfo' | 'introspection' | 'authorization';
    expiresAt?: number | undefined;
  }): Promise<string>;
}

export interface IdTokenClass {
  new (claims: Record<string, unknown>, context: { ctx?: KoaContextWithOIDC; client?: Client }): IdTokenModel;
  readonly name: string;
  validate(idToken: string, client: Client): ReturnType<typeof IdToken.validate>;
  expiresIn(...args: unknown[]): number;
}

export interface ReplayDetectionClass {
  new (...payload: never[]): object;
  readonly name: string;
  /** @returns whether it is used for the first time; it is remembered until `exp`, in epoch seconds */
  unique(iss: string, jti: string, exp: number): Promise<boolean>;
}

export interface Models {
  AccessToken: TokenClass<AccessToken>;
  AuthorizationCode: TokenClass<AuthorizationCode>;
  ClientCredentials: TokenClass<ClientCredentials>;
  RefreshToken: TokenClass<RefreshToken>;
  DeviceCode: DeviceCodeClass;
  Session: SessionClass;
  Interaction: ModelClass<Interaction>;
  Grant: GrantClass;
  IdToken: IdTokenClass;
  Client: ClientClass;
  OIDCContext: OIDCContextClass;
  ReplayDetection: ReplayDetectionClass;
}

declare const PlainProvider: new (
  issuer: string,
  configuration?: Configuration,
) => Omit<Provider, keyof Models | 'registerGrantType'>;

declare class ProviderWithAccessors extends PlainProvider {
  registerGrantType<Params extends object>(
    name: string,
    handle: (ctx: TokenEndpointGrantContext<Params>) => void | Promise<void>,
    ...params: (string[] | ReadonlySet<string>)[]
  ): void;
  static get ctx(): KoaContextWithOIDC | undefined;
  get AccessToken(): Models['AccessToken'];
  get AuthorizationCode(): Models['AuthorizationCode'];
  get ClientCredentials(): Models['ClientCredentials'];
  get RefreshToken(): Models['RefreshToken'];
  get DeviceCode(): Models['DeviceCode'];
  get Session(): Models['Session'];
  get Interaction(): Models['Interaction'];
  get Grant(): Models['Grant'];
  get IdToken(): Models['IdToken'];
  get Client(): Models['Client'];
  get OIDCContext(): Models['OIDCContext'];
  get ReplayDetection(): Models['ReplayDetection'];
}

// The only cast: the same class, typed as it is at run time.
export const ProviderBase = Provider as unknown as typeof ProviderWithAccessors;
