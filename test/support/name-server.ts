import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A DNS server on this machine. */
export interface NameServer {
  /** `127.0.0.1:<port>`. */
  address: string;
  /** The names that were asked for, each as often as it was. */
  asked: string[];
  stop(): Promise<void>;
}

const types = { 1: 4, 28: 6 } as Record<number, number>;

/** Starts a DNS server that knows these addresses, never answers for a name with `null`, and says that no other exists. */
export async function startNameServer(names: Record<string, string[] | null>): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, question } = readQuestion(query);
    asked.push(name);
    const known = names[name];
    if (known === null) return;
    const answers = (known ?? []).filter((address) => isIP(address) === types[type]).map((address) => writeAnswer(type, address));
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([header, question, ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${socket.address().port}`, asked, stop: () => new Promise((resolve) => socket.close(() => resolve())) };
}

function readQuestion(query: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), question: query.subarray(12, at + 5) };
}

/** The name points to that of the question; it holds for no time. */
function writeAnswer(type: number, address: string): Buffer {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
  return Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]), bytes]);
}
