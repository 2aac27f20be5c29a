// Reads and writes messages of the MongoDB wire protocol (OP_MSG) for what the tests put between client and server.
import { Transform } from 'node:stream';
import { BSON, type Document } from 'mongodb';

const OP_MSG = 2013;
const HEADER = 16;

export const requestIdOf = (message: Buffer): number => message.readInt32LE(4);
export const answeredIdOf = (message: Buffer): number => message.readInt32LE(8);

/** Cuts a stream into whole messages. */
export function framed(take: (message: Buffer, push: (message: Buffer) => void) => void): Transform {
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const length = rest.readInt32LE(0);
        take(rest.subarray(0, length), (message) => this.push(message));
        rest = rest.subarray(length);
      }
      done();
    },
  });
}

const parse = (bytes: Buffer): Document => BSON.deserialize(bytes, { promoteValues: false });

/** @returns the document of an OP_MSG with its sequences put in, undefined for what is none */
export function bodyOf(message: Buffer): Document | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  let body: Document = {};
  const sequences: Document = {};
  let at = HEADER + 4;
  while (at < message.length) {
    const kind = message.readUInt8(at);
    const size = message.readInt32LE(at + 1);
    const section = message.subarray(at + 1, at + 1 + size);
    if (kind === 0) body = parse(section);
    else {
      const end = section.indexOf(0, 4);
      const documents: Document[] = [];
      for (let from = end + 1; from < section.length; ) {
        const length = section.readInt32LE(from);
        documents.push(parse(section.subarray(from, from + length)));
        from += length;
      }
      sequences[section.toString('utf8', 4, end)] = documents;
    }
    at += 1 + size;
  }
  return { ...body, ...sequences };
}

/** The same answer to another request. */
export function addressed(answer: Buffer, requestId: number): Buffer {
  const copy = Buffer.from(answer);
  copy.writeInt32LE(requestId, 8);
  return copy;
}

/** @returns an OP_MSG that answers a request */
export function answerTo(requestId: number, body: Document): Buffer {
  const document = BSON.serialize(body);
  const head = Buffer.alloc(HEADER + 5);
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(requestId, 8);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, document]);
}
