// The library's types that other folders may use; the library itself stays behind this folder.
export type {
  Client,
  ErrorOut,
  InteractionResults,
  KoaContextWithOIDC,
} from 'oidc-provider';
