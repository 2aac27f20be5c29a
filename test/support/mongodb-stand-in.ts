// What only some MongoDB servers answer (refusals of a provider, a replica set with a member down, another release step's traces), from a
// table over the wire protocol: OP_MSG, and OP_QUERY for the driver's first greeting. It keeps nothing.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';

type Answer = Readonly<Record<string, unknown>>;
export type Answers = Readonly<Record<string, Answer | ((command: BSON.Document) => Answer)>>;

export interface StandIn {
  /** Host and port. */
  readonly host: string;
  /** Every command but greetings, in their order. */
  readonly asked: readonly BSON.Document[];
  stop(): void;
}

const HEAD = 16;
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;

const documentAt = (message: Buffer, at: number): BSON.Document =>
  BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)));

/** A command and its lists, which may come in sections of their own. */
function commandIn(message: Buffer): BSON.Document {
  const command: BSON.Document = {};
  for (let at = HEAD + 4; at < message.length; ) {
    const kind = message[at];
    at += 1;
    const end = at + message.readInt32LE(at);
    if (kind === 0) Object.assign(command, documentAt(message, at));
    else {
      const nameEnd = message.indexOf(0, at + 4);
      const list: BSON.Document[] = [];
      for (let from = nameEnd + 1; from < end; from += message.readInt32LE(from))
        list.push(documentAt(message, from));
      command[message.toString('utf8', at + 4, nameEnd)] = list;
    }
    at = end;
  }
  return command;
}

function reply(to: Buffer, answer: Answer): Buffer {
  const isQuery = to.readInt32LE(12) === OP_QUERY;
  const body = BSON.serialize({ ok: 1, ...answer });
  const before = Buffer.alloc(HEAD + (isQuery ? 20 : 5));
  before.writeInt32LE(before.length + body.length, 0);
  before.writeInt32LE(to.readInt32LE(4), 8);
  before.writeInt32LE(isQuery ? OP_REPLY : OP_MSG, 12);
  if (isQuery) before.writeInt32LE(1, HEAD + 16);
  return Buffer.concat([before, body]);
}

/** @param answers by the command's name; others are answered that all is well */
export async function startStandIn(answers: Answers): Promise<StandIn> {
  const asked: BSON.Document[] = [];
  const sockets = new Set<Socket>();
  const answerTo = (message: Buffer): Answer => {
    const isQuery = message.readInt32LE(12) === OP_QUERY;
    const command = isQuery ? documentAt(message, message.indexOf(0, HEAD + 4) + 9) : commandIn(message);
    const [name = ''] = Object.keys(command);
    const isGreeting = name === 'hello' || name === 'ismaster' || name === 'isMaster';
    if (!isGreeting) asked.push(command);
    const answer = answers[isGreeting ? 'hello' : name] ?? {};
    const given = typeof answer === 'function' ? answer(command) : answer;
    const greeting = {
      isWritablePrimary: true,
      maxWireVersion: 21,
      minWireVersion: 0,
      logicalSessionTimeoutMinutes: 30,
    };
    const sizes = {
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: 48_000_000,
      maxWriteBatchSize: 100_000,
    };
    return isGreeting ? { ...greeting, ...sizes, ...given } : given;
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        rest = rest.subarray(message.length);
        socket.write(reply(message, answerTo(message)));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    host: `127.0.0.1:${address.port}`,
    asked,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
