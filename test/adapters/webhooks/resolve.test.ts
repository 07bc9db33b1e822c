import { expect } from 'chai';
import { createSender } from '../../../adapters/webhooks/create-sender.ts';
import type { WebhookSender } from '../../../adapters/webhooks/port.ts';
import { createResolve, type Resolve } from '../../../adapters/webhooks/resolve.ts';
import { type NameServer, startNameServer } from '../../support/name-server.ts';
import { until } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

describe('The look-up of a receiver', () => {
  let server: NameServer;
  let resolve: Resolve;
  let receiver: Receiver;
  let sender: WebhookSender;
  before(async () => {
    const names = { 'both.test': ['192.0.2.1', '2001:db8::1'], 'six.test': ['2001:db8::2'], 'here.test': ['127.0.0.1'], 'none.test': [] };
    server = await startNameServer({ ...names, ...Object.fromEntries(silent.map((name) => [name, null])) });
    resolve = createResolve([server.address]);
    receiver = await startReceiver();
    sender = createSender({ allowedNetworks: ['127.0.0.1/32'], timeoutMs: 60_000, resolve });
  });
  after(async () => {
    await sender.close();
    await receiver.stop();
    await server.stop();
  });

  const silent = Array.from({ length: 16 }, (_, n) => `silent-${n}.test`);
  const codeOf = (host: string) => resolve(host).then(String, ({ code }) => code);

  it('finds the addresses of both families, and one of either is enough', async () => {
    expect(await resolve('both.test')).to.deep.equal([
      { address: '192.0.2.1', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
    expect(await resolve('six.test')).to.deep.equal([{ address: '2001:db8::2', family: 6 }]);
  });

  it('says why there is none', async () => {
    expect(await codeOf('none.test')).to.equal('ENODATA');
    expect(await codeOf('unknown.test')).to.equal('ENOTFOUND');
  });

  it('holds up no other while the name servers of many never answer, and is given up by itself', async () => {
    const send = (host: string) =>
      sender.send({ url: `http://${host}:${receiver.port}/`, id: 'evt_1', body: '{}', secrets: [] }, new AbortController().signal);
    let ended = 0;
    const waiting = silent.map((host) => send(host).finally(() => ended++));
    await until(() => silent.every((name) => server.asked.includes(name)));
    expect(await send('here.test')).to.include({ status: 204, error: null });
    expect(ended).to.equal(0);
    for (const result of await Promise.all(waiting))
      expect(result).to.include({ status: null, final: false, error: 'The host could not be looked up.' });
  });
});
