// Names of the test's own domain: a DNS server on loopback (SRV, TXT), and the same answers from the operating system's resolver.
// Every other name resolves as usual.
import { createSocket } from 'node:dgram';
import dns from 'node:dns';
import { once } from 'node:events';
import packet, { type Answer } from 'dns-packet';

export interface Names {
  stop(): Promise<void>;
}

/**
 * @param zone the domain; all its names are 127.0.0.1
 * @param records what there is beside
 */
export async function startNames(zone: string, records: readonly Answer[]): Promise<Names> {
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { id = 0, questions = [] } = packet.decode(message);
    const answers = records.filter((record) =>
      questions.some(({ name, type }) => name === record.name && type === record.type),
    );
    const reply = { type: 'response', id, questions, answers, flags: packet.RECURSION_AVAILABLE } as const;
    // 3: there is no such name (RFC 1035 §4.1.1).
    const flags = answers.length > 0 ? reply.flags : reply.flags | 3;
    socket.send(packet.encode({ ...reply, flags }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const before = { servers: dns.getServers(), lookup: dns.lookup };
  dns.setServers([`127.0.0.1:${socket.address().port}`]);
  const lookup = (host: string, ...rest: unknown[]): void => {
    const isOurs = host.endsWith(`.${zone}`);
    Reflect.apply(before.lookup, dns, [isOurs ? '127.0.0.1' : host, ...rest]);
  };
  dns.lookup = Object.assign(lookup, before.lookup) as typeof dns.lookup;
  return {
    async stop() {
      dns.lookup = before.lookup;
      dns.setServers(before.servers);
      socket.close();
      await once(socket, 'close');
    },
  };
}
