// The cluster's name server, `node names.ts ADDRESS PKI`: it knows the services, and nothing outside of the cluster.
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

interface Service {
  metadata: { name: string; namespace: string };
  spec: { clusterIP?: string };
}

const [address = '', pki = ''] = process.argv.slice(2);
const read = (name: string) => readFileSync(join(pki, name));
const agent = new Agent({ ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key'), keepAlive: true });
let addresses = new Map<string, string>();

async function listServices(): Promise<Service[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Service[]>();
  get(`https://${address}:6443/api/v1/services`, { agent, timeout: 5_000 }, (response) => {
    json(response).then((body) => resolve((body as { items: Service[] }).items), reject);
  }).on('error', reject);
  return await promise;
}

/** The answer to a query: a header, the question, and an address if the name has one. Of other kinds than A there are none. */
function respond(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]; length; length = query[at]) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const found = addresses.get(labels.join('.').toLowerCase());
  const isAnswered = found !== undefined && query.readUInt16BE(at + 1) === 1;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(found === undefined ? 0x8583 : 0x8580, 2);
  header.writeUInt16BE(isAnswered ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  const answer = isAnswered ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...found.split('.').map(Number)] : [];
  return Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(answer)]);
}

const server = createSocket('udp4').bind(53, address);
server.on('message', (query, { port, address: sender }) => server.send(respond(query), port, sender));
for (;;) {
  try {
    const services = (await listServices()).filter(({ spec }) => spec.clusterIP !== 'None');
    addresses = new Map(
      services.map(({ metadata, spec }) => [`${metadata.name}.${metadata.namespace}.svc.cluster.local`, spec.clusterIP ?? '']),
    );
  } catch (error) {
    console.log(error);
  }
  await delay(1_000);
}
