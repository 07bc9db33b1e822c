import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { createSender } from '../../../adapters/webhooks/create-sender.ts';
import type { Resolve } from '../../../adapters/webhooks/resolve.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { findInstalled } from '../../support/installed.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const never = new AbortController().signal;
const openssl = findInstalled('openssl');

describe('A request to a receiver', () => {
  let receiver: Receiver;
  const closing: (() => Promise<void>)[] = [];
  before(async () => {
    receiver = await startReceiver();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.behave({});
  });
  after(async () => {
    for (const close of closing) await close();
    await receiver.stop();
  });

  function sender(options: { allowed?: string[]; timeoutMs?: number; resolve?: Resolve } = {}) {
    const { allowed = ['127.0.0.1/32'], timeoutMs = 20_000, resolve } = options;
    const made = createSender({ allowedNetworks: allowed, timeoutMs, ...(resolve && { resolve }) });
    closing.push(() => made.close());
    return made;
  }

  const request = (url = receiver.url) => ({ url, id: 'evt_1', body: '{"type":"webhook.test"}', secrets: [secret] });

  it('is signed so that the library of Standard Webhooks verifies it, and is accepted by any 2xx', async () => {
    receiver.behave({ status: 202, body: 'taken' });
    const result = await sender().send(request(), never);
    expect(result).to.include({ status: 202, body: 'taken', error: null, final: false, gone: false });
    const [got] = receiver.received;
    expect(new Webhook(secret).verify(got?.body ?? '', got?.headers as Record<string, string>)).to.deep.equal({ type: 'webhook.test' });
    expect(got?.headers).to.include({ 'content-type': 'application/json', 'webhook-id': 'evt_1' });
  });

  it('skips informational responses that it did not ask for', async () => {
    const hasty = createTcpServer((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
      ),
    );
    await new Promise<void>((resolve) => hasty.listen(0, '127.0.0.1', resolve));
    const { port } = hasty.address() as AddressInfo;
    expect(await sender().send(request(`http://127.0.0.1:${port}/`), never)).to.include({ status: 204, error: null });
    hasty.close();
  });

  it('ends where the receiver switches to another protocol, which nobody asked for', async () => {
    const switching = createTcpServer((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')),
    );
    await new Promise<void>((resolve) => switching.listen(0, '127.0.0.1', resolve));
    const { port } = switching.address() as AddressInfo;
    const result = await sender({ timeoutMs: 1_000 }).send(request(`http://127.0.0.1:${port}/`), never);
    expect(result).to.include({ status: null, final: false, error: 'The request failed.' });
    switching.close();
  });

  it('follows no redirect', async () => {
    const other = await startReceiver();
    closing.push(other.stop);
    receiver.behave({ status: 302, headers: { location: other.url } });
    const result = await sender().send(request(), never);
    expect(result).to.include({ status: 302, final: false, error: 'The receiver answered 302; redirects are not followed.' });
    expect(other.received).to.deep.equal([]);
  });

  it('is over for good after 410', async () => {
    receiver.behave({ status: 410 });
    expect(await sender().send(request(), never)).to.include({ status: 410, final: true, gone: true });
  });

  it('is given up after its time', async () => {
    receiver.behave({ never: true });
    const result = await sender({ timeoutMs: 300 }).send(request(), never);
    expect(result).to.include({ status: null, final: false, error: 'There was no response within 0.3 seconds.' });
  });

  it('is accepted by its status, also if its body never ends', async () => {
    const endless = createHttpServer((_request, response) => void response.writeHead(200).write('begun'));
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    closing.push(async () => {
      endless.closeAllConnections();
      endless.close();
    });
    const { port } = endless.address() as { port: number };
    const result = await sender({ timeoutMs: 3_000 }).send(request(`http://127.0.0.1:${port}/`), never);
    expect(result).to.include({ status: 200, body: 'begun', error: null });
  });

  it('keeps 4 kB of the response, without what Postgres cannot store', async () => {
    receiver.behave({ status: 500, body: `a\0${'b'.repeat(1_000_000)}` });
    const { body, error } = await sender().send(request(), never);
    expect(body).to.equal(`a${'b'.repeat(4_094)}`);
    expect(error).to.equal('The receiver answered 500.');
  });

  it('hears how long the receiver wants to be left alone', async () => {
    receiver.behave({ status: 503, headers: { 'retry-after': '120' } });
    expect(await sender().send(request(), never)).to.include({ retryAfterMs: 120_000 });
    receiver.behave({ status: 429, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() } });
    expect((await sender().send(request(), never)).retryAfterMs).to.be.within(3_000_000, 3_600_000);
    receiver.behave({ status: 429, headers: { 'retry-after': 'soon' } });
    expect(await sender().send(request(), never)).not.to.have.property('retryAfterMs');
  });

  it('is tried again if the host is not found or refuses the connection, in words without an address', async () => {
    const notFound: Resolve = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    const lost = await sender({ resolve: notFound }).send(request('https://hooks.example.com/'), never);
    expect(lost).to.include({ status: null, final: false, error: 'The host could not be found.' });
    const gone = await startReceiver();
    await gone.stop();
    expect(await sender().send(request(gone.url), never)).to.include({ final: false, error: 'The connection was refused.' });
  });

  describe('to an address that is not public', () => {
    const hostile = [
      ...['10.0.0.1', '172.16.5.4', '192.168.1.1', '127.0.0.2', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255'],
      ...['192.0.2.1', '198.18.0.1', '168.63.129.16', '2130706434', '0x7f000002', '0177.0.0.2', '127.2'],
      ...['[::1]', '[::]', '[fe80::1]', '[fd00:ec2::254]', '[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]', '[64:ff9b::a00:1]'],
      ...['[2002:a00:1::]', '[2001:db8::1]', '[ff02::1]', '[::127.0.0.2]', '[4000::1]', '[100::1]'],
    ];
    for (const host of hostile) {
      it(`is refused for good: ${host}`, async () => {
        for (const url of [`https://${host}/`, `http://${host}:${receiver.port}/`]) {
          const result = await sender().send(request(url), never);
          expect(result, url).to.include({ status: null, final: true });
          expect(result.error, url).to.match(/^The address of the host is not public \(\w+\)/);
        }
      });

      it(`is refused for good if a name leads there: ${host}`, async () => {
        const address = new URL(`https://${host}/`).hostname.replace(/[[\]]/g, '');
        const result = await sender({ resolve: answering([address]) }).send(request('https://hooks.example.com/'), never);
        expect(result).to.include({ status: null, final: true });
        expect(result.error)
          .to.match(/^The address of the host is not public/)
          .and.not.contain(address);
      });
    }
  });

  it('goes to a public host only over https, and over http where a network is allowed', async () => {
    const plain = await sender({ resolve: answering(['93.184.215.14']) }).send(request('http://hooks.example.com/'), never);
    expect(plain).to.include({ final: true, error: 'A public host is reached only over https.' });
    expect(await sender().send(request(), never)).to.include({ error: null });
  });

  it('connects to what was checked, however the name changes meanwhile', async () => {
    let lookups = 0;
    // The second look-up leads elsewhere, as that of an attacker would.
    const changing: Resolve = (host) => answering([lookups++ === 0 ? '127.0.0.1' : '127.0.0.2'])(host);
    const elsewhere = await startReceiver({ port: receiver.port, host: '127.0.0.2' });
    closing.push(elsewhere.stop);
    const url = `http://hooks.example.com:${receiver.port}/`;
    expect(await sender({ resolve: changing }).send(request(url), never)).to.include({ error: null });
    expect(lookups).to.equal(1);
    expect(receiver.received[0]?.headers.host).to.equal(`hooks.example.com:${receiver.port}`);
    lookups = 1;
    expect(await sender({ resolve: changing }).send(request(url), never)).to.include({ final: true });
    expect(elsewhere.received).to.deep.equal([]);
  });

  it('leaves out the addresses that are not allowed where a name has several', async () => {
    const resolve = answering(['10.0.0.1', '127.0.0.1', '169.254.169.254']);
    expect(await sender({ resolve }).send(request(`http://hooks.example.com:${receiver.port}/`), never)).to.include({ error: null });
  });

  if (openssl !== undefined)
    it('names the host in the TLS handshake, and refuses a certificate that is not its own', async () => {
      const directory = makeTestDirectory();
      const cert = await makeCertificate(openssl, directory);
      const key = readFileSync(join(directory, 'privkey.pem'));
      const names: string[] = [];
      const SNICallback = (name: string, callback: (error: null) => void) => {
        names.push(name);
        callback(null);
      };
      let requests = 0;
      const server = createServer({ key, cert, SNICallback }, (_request, response) => {
        requests++;
        response.end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closing.push(async () => {
        server.close();
        removeTestDirectory(directory);
      });
      const { port } = server.address() as { port: number };
      const result = await sender({ resolve: answering(['127.0.0.1']) }).send(request(`https://hooks.example.com:${port}/`), never);
      expect(result).to.include({ status: null, final: false });
      expect(names).to.deep.equal(['hooks.example.com']);
      expect(requests).to.equal(0);
    });
});

/** A resolver that always finds these. */
function answering(addresses: string[]): Resolve {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
