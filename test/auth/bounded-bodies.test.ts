import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { type AuthService, billingOn, startAuthService } from './support/service.ts';

const mebibyte = 1024 * 1024;

describe('Bodies of sign-in', () => {
  let service: AuthService;
  const sent: ClientRequest[] = [];
  afterEach(async () => {
    for (const each of sent.splice(0)) each.destroy();
    await service.stop();
  });

  /** Sends all of a body but the last byte, and returns the status of the response, if there is one. */
  async function begin(path: string, address: string, headers: Record<string, string | number>, bytes: number) {
    const form = { 'content-type': 'application/json', 'x-test-address': address, ...headers };
    const started = request(`${service.url}/api/auth${path}`, { method: 'POST', headers: form, agent: false });
    sent.push(started);
    started.on('error', () => {}).write('x'.repeat(bytes - 1));
    const [response] = (await once(started, 'response').catch(() => [])) as IncomingMessage[];
    response?.resume();
    return { status: response?.statusCode, retryAfter: response?.headers['retry-after'] };
  }
  const webhook = (address: string) => begin('/stripe/webhook', address, { 'content-length': mebibyte }, mebibyte);

  it('of one address are refused beyond its share, while others are read', async () => {
    service = await startAuthService(billingOn);
    const refused = await Promise.race(Array.from({ length: 10 }, () => webhook('192.0.2.1')));
    expect(refused).to.include({ status: 429, retryAfter: '5' });
    const chunked = Array.from({ length: 4 }, () => begin('/sign-in/email', '192.0.2.2', { 'transfer-encoding': 'chunked' }, 100));
    for (const each of sent.slice(-4)) each.end('x');
    for (const { status } of await Promise.all(chunked)) expect(status).to.equal(400);
    const small = await service.client().post('/sign-in/email', { email: 'a@example.com', password: 'a long password' });
    expect(small.status).to.equal(401);
  });

  it('are small at the webhook, too, unless there is billing', async () => {
    service = await startAuthService();
    expect((await webhook('192.0.2.1')).status).to.equal(413);
  });
});
