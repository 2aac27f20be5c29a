// What the MongoDB server for tests lacks compared with one that requires a password: SCRAM-SHA-256 (RFC 5802, RFC 7677) on the
// wire, before which nothing else passes. Imitated from outside, on the messages.
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { BSON, type Document } from 'mongodb';
import { answerTo, bodyOf, framed, requestIdOf } from './messages.ts';
import type { Tap } from './wire.ts';

export interface Login {
  readonly user: string;
  readonly password: string;
  /** The database that the user belongs to (`authSource`). */
  readonly source: string;
}

const HASH = 'sha256';
const ITERATIONS = 4_096;
/** What a server answers to strangers. */
const OPEN = ['hello', 'ismaster', 'ping', 'endSessions'];
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;

const refusal = (code: number, codeName: string, errmsg: string): Document => ({
  ok: 0,
  code,
  codeName,
  errmsg,
});

/** @returns the attributes of a SCRAM message by their letters (RFC 5802 §5.1) */
const attributesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(text.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));

/** One exchange of one connection. */
function createExchange({ user, password }: Login) {
  const salt = randomBytes(16);
  let clientFirst = '';
  let serverFirst = '';
  return {
    first(payload: string): { readonly isKnown: boolean; readonly text: string } {
      clientFirst = payload.replace(/^n,,/, '');
      const given = attributesOf(clientFirst);
      const nonce = `${given.get('r')}${randomBytes(18).toString('base64')}`;
      serverFirst = `r=${nonce},s=${salt.toString('base64')},i=${ITERATIONS}`;
      const name = given.get('n')?.replaceAll('=2C', ',').replaceAll('=3D', '=');
      return { isKnown: name === user, text: serverFirst };
    },
    /** @returns what proves to the client that the server knows the password, too; undefined for a wrong proof */
    final(payload: string): string | undefined {
      const { bare = '', proof = '' } = /^(?<bare>.*),p=(?<proof>[^,]*)$/.exec(payload)?.groups ?? {};
      const isSameNonce = attributesOf(bare).get('r') === attributesOf(serverFirst).get('r');
      const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, HASH);
      const hmac = (key: Buffer, text: string): Buffer => createHmac(HASH, key).update(text).digest();
      const clientKey = hmac(salted, 'Client Key');
      const spoken = [clientFirst, serverFirst, bare].join(',');
      const signature = hmac(createHash(HASH).update(clientKey).digest(), spoken);
      const wanted = Buffer.from(signature.map((byte, at) => byte ^ (clientKey[at] ?? 0)));
      const given = Buffer.from(proof, 'base64');
      if (!isSameNonce || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      return `v=${hmac(hmac(salted, 'Server Key'), spoken).toString('base64')}`;
    },
  };
}

/** @returns for each connection what asks for the password */
export function asking(login: Login): () => Tap {
  return () => {
    let exchange: ReturnType<typeof createExchange> | undefined;
    let isIn = false;
    const failed = refusal(AUTHENTICATION_FAILED, 'AuthenticationFailed', 'Authentication failed.');

    function start({ mechanism, payload, $db }: Document): Document {
      if (mechanism !== 'SCRAM-SHA-256') return failed;
      exchange = createExchange(login);
      const { isKnown, text } = exchange.first(payload.buffer.toString('utf8'));
      if (!isKnown || $db !== login.source) return failed;
      return { ok: 1, conversationId: 1, done: false, payload: new BSON.Binary(Buffer.from(text)) };
    }
    function go({ payload }: Document): Document {
      const text = exchange?.final(payload.buffer.toString('utf8'));
      if (text === undefined) return failed;
      isIn = true;
      return { ok: 1, conversationId: 1, done: true, payload: new BSON.Binary(Buffer.from(text)) };
    }
    function answer(body: Document): Document | undefined {
      const name = Object.keys(body)[0] ?? '';
      if (name === 'saslStart') return start(body);
      if (name === 'saslContinue') return go(body);
      if (isIn || OPEN.includes(name)) return undefined;
      return refusal(UNAUTHORIZED, 'Unauthorized', `Command ${name} requires authentication`);
    }

    const down = framed((message, push) => push(message));
    const up = framed((message, push) => {
      const body = bodyOf(message);
      const own = body && answer(body);
      if (own === undefined) push(message);
      else down.push(answerTo(requestIdOf(message), own));
    });
    return { up, down };
  };
}
