import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { startUploadServer, type UploadServer } from './upload-server.ts';

const sizeBytes = 40_000_000;

describe('Downloads that nobody reads', () => {
  let server: UploadServer;
  before(async () => {
    server = await startUploadServer({
      maxUploadBytes: sizeBytes,
      downloads: { perOrganization: 2, maxWaiting: 1, patienceMs: 1_000, idleMs: 2_000 },
    });
    for (const key of ['org/doc', 'other/doc']) await server.storage.write(key, chunks());
  });
  after(() => server.close());

  async function* chunks() {
    for (let written = 0; written < sizeBytes; written += 1_000_000) yield Buffer.alloc(1_000_000);
  }

  const urlOf = async (key: string) => (await server.storage.signDownload({ key, contentType: 'application/pdf', fileName: 'a.pdf' })).url;

  /** Asks for a document with a connection of its own, and reads nothing. */
  async function open(key: string): Promise<IncomingMessage> {
    const [response] = (await once(get(await urlOf(key), { agent: false }), 'response')) as [IncomingMessage];
    response.on('error', () => {});
    return response.pause();
  }

  it('are no more than an organization may have at once, and are ended, while others are served', async () => {
    const unread = [await open('org/doc'), await open('org/doc')];
    expect(unread.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200]);

    const [late, tooMany] = await Promise.all([open('org/doc'), open('org/doc')]);
    for (const refused of [late, tooMany]) {
      expect(refused.statusCode).to.equal(429);
      expect(refused.headers['retry-after']).to.equal('5');
      expect(JSON.parse(await text(refused))).to.deep.equal({ error: 'too_many_downloads', requestId: 'request-1' });
    }
    const other = await fetch(await urlOf('other/doc'));
    expect([other.status, (await other.arrayBuffer()).byteLength]).to.deep.equal([200, sizeBytes]);

    let again = await fetch(await urlOf('org/doc'));
    while (again.status === 429) again = await fetch(await urlOf('org/doc'));
    expect([again.status, (await again.arrayBuffer()).byteLength]).to.deep.equal([200, sizeBytes]);
    for (const response of unread) {
      const closed = new Promise((resolve) => response.once('close', resolve));
      response.resume();
      await closed;
      expect(response.complete).to.equal(false);
    }
    expect(server.failures).to.deep.equal([]);
  });

  it('let one that waits begin once their client has left', async () => {
    const unread = [await open('org/doc'), await open('org/doc')];
    const waiting = open('org/doc');
    unread[0]?.destroy();
    const served = await waiting;
    expect(served.statusCode).to.equal(200);
    for (const response of [...unread, served]) response.destroy();
  });
});
