// All environment variables, each once, with type, default and description. load.ts reads by this list and reference.ts
// renders docs/configuration.md from it. Secrets (`isSecret`) also have a `_FILE` variant.
import { logLevels } from '../log-level.ts';
import { mongodbAddress, redisAddress } from './database-address.ts';
import { outboundAllow } from './outbound-allow.ts';
import {
  baseUrl,
  email,
  integer,
  issuer,
  mailServer,
  oneOf,
  type Parser,
  secret,
  secretList,
  sized,
  text,
  tlsVerification,
} from './parsers.ts';

export interface Variable<T> {
  /** For documentation: the allowed values. */
  readonly type: string;
  /** For documentation: what applies when it is not set. */
  readonly default: string;
  readonly description: string;
  /** Never printed; also readable from the file that NAME_FILE names. */
  readonly isSecret?: true;
  readonly parse: Parser<T>;
}

const variable = <T>(definition: Variable<T>): Variable<T> => definition;

export const variables = {
  PORT: variable({
    type: 'port',
    default: '3000',
    description: 'TCP port to listen on.',
    parse: integer(0, 65_535),
  }),
  HOST: variable({
    type: 'address',
    default: 'every address',
    description: 'Address to listen on, for example `127.0.0.1` behind a proxy on the same machine.',
    parse: text,
  }),
  BASE_URL: variable({
    type: 'URL',
    default: '`http://localhost:{PORT}`',
    description:
      'The public address of this server; may have a path. All links and cookies are derived from it, never ' +
      'from a request. Plain `http` is accepted for loopback hosts only.',
    parse: baseUrl,
  }),
  ISSUER: variable({
    type: 'URL',
    default: '`{BASE_URL}/oauth2`',
    description: 'The issuer identifier in tokens and discovery, kept byte by byte as written here.',
    parse: issuer,
  }),
  DATA_DIR: variable({
    type: 'folder',
    default: '`./data`',
    description:
      'Where the embedded database and the generated `secret.key` are stored. Created when missing; not used with `MONGODB_URI`.',
    parse: text,
  }),
  MONGODB_URI: variable({
    type: 'address',
    default: 'none: the embedded database',
    description:
      'Stores everything in MongoDB: `mongodb://…` or `mongodb+srv://…`, with the database in the path (`latchkey` when ' +
      'none). Its pool and timeout options apply; writes are always acknowledged by a majority. Needs `SECRET_KEY`.',
    isSecret: true,
    parse: mongodbAddress,
  }),
  REDIS_URL: variable({
    type: 'address',
    default: 'none',
    description:
      'With `MONGODB_URI`: short-lived data is stored in Redis: `redis://…`, `rediss://…` (TLS), hosts of a cluster ' +
      'separated by commas, or `redis-sentinel://host,host/master-name`.',
    isSecret: true,
    parse: redisAddress,
  }),
  REDIS_TLS_VERIFY: variable({
    type: '`on`, `off` or `sha256:…`, separated by commas',
    default: '`on`',
    description:
      'How the certificate of `rediss://` is verified. `on`: by authority and name. `sha256:…`: it is one of these ' +
      'certificates (SHA-256 of its DER form, hexadecimal), whatever its authority, name and dates. `off`: not at all, as ' +
      'trusting as `redis://`; for services whose certificate cannot be verified.',
    parse: tlsVerification,
  }),
  SECRET_KEY: variable({
    type: 'keys, 32+ characters each',
    default: 'generated into `DATA_DIR`; required with `MONGODB_URI`',
    description:
      'Encrypts signing keys and secrets at rest. A comma list rotates: the first one encrypts, all decrypt. ' +
      'Keep a copy separate from the database.',
    isSecret: true,
    parse: secretList(32),
  }),
  COOKIE_KEYS: variable({
    type: 'keys, 32+ characters each',
    default: 'derived from `SECRET_KEY`',
    description: 'Signs cookies. A comma list rotates: the first one signs, all verify.',
    isSecret: true,
    parse: secretList(32),
  }),
  ADMIN_TOKEN: variable({
    type: '32+ characters',
    default: 'none',
    description: 'A bearer token with all rights of an administrator, for initial setup. Unset: disabled.',
    isSecret: true,
    parse: secret(32),
  }),
  METRICS_TOKEN: variable({
    type: '32+ characters',
    default: 'none',
    description:
      'The bearer token that `/metrics` requires. Unset: it is available to programs on this machine only, not through a proxy.',
    isSecret: true,
    parse: secret(32),
  }),
  ADMIN_USERNAME: variable({
    type: '3–64 characters',
    default: 'none',
    description:
      'With `ADMIN_PASSWORD`: the administrator made at start when there is none, without onboarding.',
    parse: sized(3, 64),
  }),
  ADMIN_PASSWORD: variable({
    type: '8–128 characters',
    default: 'none',
    description: "That administrator's password. Used once; later changes have no effect.",
    isSecret: true,
    parse: sized(8, 128),
  }),
  ADMIN_EMAIL: variable({
    type: 'e-mail address',
    default: 'none',
    description: "That administrator's e-mail address.",
    parse: email,
  }),
  TRUST_PROXY: variable({
    type: '0–10',
    default: '0',
    description:
      'How many proxies in front of this server append to `X-Forwarded-For`. With 0 the header is ignored.',
    parse: integer(0, 10),
  }),
  WEB_CONCURRENCY: variable({
    type: '1–64',
    default: '1',
    description: 'HTTP processes that share the port.',
    parse: integer(1, 64),
  }),
  DRAIN_SECONDS: variable({
    type: '0–15',
    default: '5; with the embedded database 0',
    description:
      'How long a process serves on after SIGTERM while `/readyz` is 503 and every response closes its connection, so that a ' +
      'balancer can notice: longer than it takes to. It and the requests that still run get 28 s together.',
    parse: integer(0, 15),
  }),
  OUTBOUND_ALLOW: variable({
    type: 'hosts, `host:port`, networks',
    default: 'none: public addresses, by https',
    description:
      'What this server may call inside for an application (`jwks_uri`, back-channel logout, `request_uris`), where an administrator entered ' +
      'or approved that exact address: `app.home.lan`, `app.home.lan:8080`, `10.0.0.0/8`, `[fd00::]/8:8443`. Without a port ' +
      'an entry opens 443. Plain `http` is for back-channel logout, and for keys on localhost. Never link-local and cloud ' +
      'metadata addresses, this server and its databases. For a certificate authority inside see `NODE_EXTRA_CA_CERTS`.',
    parse: outboundAllow,
  }),
  GEOIP_FILE: variable({
    type: 'file',
    default: 'none: no place is shown',
    description:
      "A database of cities or countries by address, in MaxMind's format (`.mmdb`, such as GeoLite2 City or DB-IP City Lite). Sessions, " +
      'recent activity and mails then say where, such as “Berlin, Germany”; tokens never do. Nobody is asked over the network. Read ' +
      'into memory at start by each process, at most 512 MB: after replacing the file, restart.',
    parse: text,
  }),
  SMTP_URL: variable({
    type: '`smtps://…`, `smtp+starttls://…` or `smtp://…`',
    default: 'none',
    description:
      'The mail server, with `user:password@` if it requires them. Becomes the setting `smtp_url` at start while ' +
      'that is empty; later it is changed there.',
    isSecret: true,
    parse: mailServer,
  }),
  LOG_LEVEL: variable({
    type: logLevels.map((level) => `\`${level}\``).join(', '),
    default: '`info`',
    description: 'Least serious event to log. JSON lines on standard output; readable text in a terminal.',
    parse: oneOf(logLevels),
  }),
  PLAIN_ANSWERS: variable({
    type: '`on`, `off`',
    default: '`on`',
    description:
      'Whether plain successes of the busiest endpoints are answered by a short way of their own. `off`: everything takes the long ' +
      'way, which answers the same; for comparing the two.',
    parse: oneOf(['on', 'off']),
  }),
} as const;

export type VariableName = keyof typeof variables;

export type ValueOf<N extends VariableName> = ReturnType<(typeof variables)[N]['parse']>;
