// Owns which of the protocol core's types other folders may speak of; the library itself stays behind this folder.
export type {
  Client,
  ErrorOut,
  Interaction,
  InteractionResults,
  KoaContextWithOIDC,
} from 'oidc-provider';
