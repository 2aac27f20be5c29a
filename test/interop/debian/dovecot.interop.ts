// Dovecot's OAuth2 password database, as Debian packages it: mail programs bring an access token (XOAUTH2, OAUTHBEARER), or a
// password that Dovecot takes to the token endpoint.
import { equal, match } from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { type Client, postForm, tokensOf } from '../../flows/support.ts';
import { REDIRECT_URI } from '../../support/app.ts';
import { freePort } from '../../support/free-port.ts';
import { type Issuer, PERSON, startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import { need } from '../support/toolchain.ts';

const dovecot = need('dovecot', '/usr/lib/dovecot/imap');

interface World {
  readonly issuer: Issuer;
  readonly client: Client;
  /** Signs in by IMAP with this command. @returns the server's answer */
  imap(command: string): Promise<string>;
}

/** Where it does not run as root, it cannot become its own users. */
function rootless(): string {
  const { uid, username } = userInfo();
  if (uid === 0) return '';
  return `
default_internal_user = ${username}
default_internal_group =
default_login_user = ${username}
service anvil {
  chroot =
}
service imap-login {
  chroot =
}
`;
}

const configuration = (folder: string, port: number): string => `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
listen = 127.0.0.1
protocols = imap
ssl = no
auth_mechanisms = plain oauthbearer xoauth2
mail_location = maildir:${folder}/mail/%u
first_valid_uid = 1
passdb {
  driver = oauth2
  args = ${folder}/oauth2.conf
}
userdb {
  driver = static
  args = uid=mail gid=mail home=${folder}/mail/%u
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
${rootless()}`;

async function imap(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    for await (const line of createInterface({ input: socket })) {
      if (line.startsWith('a ')) return line;
      // The greeting; then, where a token is refused, why, which the client has to acknowledge.
      if (line.startsWith('* OK')) socket.write(`a ${command}\r\n`);
      if (line.startsWith('+ ')) socket.write('AQ==\r\n');
    }
    throw new Error('the connection ended without an answer');
  } finally {
    socket.destroy();
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const xoauth2 = (user: string, token: string): string =>
  `AUTHENTICATE XOAUTH2 ${base64(`user=${user}\x01auth=Bearer ${token}\x01\x01`)}`;

const oauthbearer = (user: string, token: string): string =>
  `AUTHENTICATE OAUTHBEARER ${base64(`n,a=${user},\x01auth=Bearer ${token}\x01\x01`)}`;

const IN = /^a OK .*Logged in/;
const OUT = /^a NO /;

async function inWorld(
  metadata: Record<string, unknown>,
  settings: (issuer: Issuer, client: Client) => string,
  act: (world: World) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-dovecot-'));
  // Its processes are other users'.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'mail'));
  chmodSync(join(folder, 'mail'), 0o777);
  const issuer = await startIssuer();
  try {
    const { client_id, client_secret } = await issuer.registerClient({
      redirect_uris: [REDIRECT_URI],
      ...metadata,
    });
    const client = { id: client_id, secret: client_secret };
    writeFileSync(join(folder, 'oauth2.conf'), settings(issuer, client));
    writeFileSync(join(folder, 'dovecot.conf'), configuration(folder, port));
    const server = await startServer({
      command: 'dovecot',
      args: ['-F', '-c', join(folder, 'dovecot.conf')],
      url: `tcp://127.0.0.1:${port}`,
    });
    try {
      await act({ issuer, client, imap: (command) => imap(port, command) });
    } catch (error) {
      const log = readFileSync(join(folder, 'log'), 'utf8').slice(-4000);
      throw new Error(`${issuer.refusals().join('')}\n${server.said()}\n${log}`, { cause: error });
    } finally {
      await server.stop();
    }
  } finally {
    await issuer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function revoke({ issuer }: World, token: string): Promise<void> {
  equal((await postForm(issuer.app, '/oauth2/revoke', { token })).status, 200);
}

test('dovecot: an access token of any application, asked about at userinfo', dovecot, () =>
  inWorld(
    {},
    ({ issuer }) => `introspection_url = ${issuer}/userinfo\n`,
    async (world) => {
      const { access_token } = await tokensOf(world.issuer.app, world.client, PERSON);
      const token = String(access_token);
      match(await world.imap(xoauth2(PERSON.email, token)), IN);
      match(await world.imap(oauthbearer(PERSON.email, token)), IN);
      match(await world.imap(xoauth2('someone@example.com', token)), OUT);
      await revoke(world, token);
      match(await world.imap(xoauth2(PERSON.email, token)), OUT);
    },
  ),
);

/** Dovecot's own credentials, as the samples of its documentation put them into the address. */
const introspection = ({ issuer }: Issuer, { id, secret }: Client): string => `
introspection_mode = post
introspection_url = ${issuer.replace('://', `://${id}:${secret}@`)}/introspect
username_attribute = username
active_attribute = active
active_value = true
`;

test('dovecot: an access token of its own application, introspected', dovecot, () =>
  inWorld({}, introspection, async (world) => {
    const { access_token } = await tokensOf(world.issuer.app, world.client, PERSON);
    const token = String(access_token);
    match(await world.imap(xoauth2(PERSON.username, token)), IN);
    match(await world.imap(xoauth2('someone', token)), OUT);
    await revoke(world, token);
    match(await world.imap(xoauth2(PERSON.username, token)), OUT);
    match(await world.imap(xoauth2(PERSON.username, 'nonsense')), OUT);
  }),
);

test('dovecot: an access token of another application, where it may introspect', dovecot, () =>
  inWorld({ may_introspect: true }, introspection, async (world) => {
    const webmail = await world.issuer.app.register();
    const { access_token } = await tokensOf(world.issuer.app, webmail, PERSON);
    match(await world.imap(xoauth2(PERSON.username, String(access_token))), IN);
  }),
);

test('dovecot: a password, by the password grant', dovecot, () =>
  inWorld(
    { grant_types: ['password'], redirect_uris: [], token_endpoint_auth_method: 'client_secret_post' },
    ({ issuer }, { id, secret }) => `
grant_url = ${issuer}/token
client_id = ${id}
client_secret = ${secret}
use_grant_password = yes
introspection_url = ${issuer}/userinfo
scope = openid email
`,
    async (world) => {
      match(await world.imap(`LOGIN ${PERSON.email} "${PERSON.password}"`), IN);
      match(await world.imap(`LOGIN ${PERSON.email} "a wrong password"`), OUT);
    },
  ),
);
