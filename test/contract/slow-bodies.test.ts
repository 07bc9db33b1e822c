import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const bodyMs = 1_000;

/** A chunk of so many spaces. */
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`;

describe('A body that comes a byte at a time', () => {
  const { api, tenant } = useApi({ env: withTimes({ bodyWindow: bodyMs }, { WORKER_ENABLED: 'false' }) });
  let drips: NodeJS.Timeout[];
  beforeEach(() => {
    drips = [];
  });
  afterEach(() => {
    for (const drip of drips) clearInterval(drip);
  });

  /** Sends a request whose body never comes to its end, and returns what the API says until it hangs up. */
  async function drip(path: string, { authorized = true, framing = 'content-length: 60000', sent = '' } = {}): Promise<string> {
    const { hostname, port } = new URL(api.url);
    const socket: Socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
    });
    // It goes on sending after the response, until the server resets the connection.
    socket.on('error', () => {});
    await once(socket, 'connect');
    const token = authorized ? tenant.owner.token : 'none';
    const head = ['content-type: application/json', `authorization: Bearer ${token}`, framing];
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${head.join('\r\n')}\r\n\r\n${sent}`);
    drips.push(setInterval(() => socket.write(framing.startsWith('transfer') ? chunk(1) : ' '), 50));
    await once(socket, 'close').catch(() => {});
    return received;
  }

  const paths = ['/api/v1/workspaces', '/rpc/workspaces/create', '/api/auth/sign-in/email'];

  it('ends with 408, and the connection is closed', async () => {
    const asked = paths.flatMap((path) => ['content-length: 60000', 'transfer-encoding: chunked'].map((framing) => ({ path, framing })));
    const answers = await Promise.all(asked.map(({ path, framing }) => drip(path, { framing })));
    for (const [index, answer] of answers.entries()) {
      expect(answer, JSON.stringify(asked[index])).to.match(/^HTTP\/1.1 408 /);
      expect(answer.toLowerCase()).to.include('connection: close');
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ error: 'too_slow' });
    }
  });

  it('whose request was refused already is not waited for', async () => {
    const answer = await drip('/api/v1/workspaces', { authorized: false });
    expect(answer).to.match(/^HTTP\/1.1 401 /);
  });

  it('and says that it is too large is refused at once', async () => {
    for (const answer of await Promise.all(paths.map((path) => drip(path, { framing: 'content-length: 100000000' })))) {
      expect(answer).to.match(/^HTTP\/1.1 413 /);
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ error: 'payload_too_large' });
    }
  });

  it('and turns out too large is refused at once', async () => {
    const large = { framing: 'transfer-encoding: chunked', sent: chunk(1024 * 1024 + 1) };
    for (const answer of await Promise.all(paths.slice(0, 2).map((path) => drip(path, large)))) expect(answer).to.match(/^HTTP\/1.1 413 /);
  });

  it('is not waited for at the path of an upload either, unless it is one', async () => {
    expect(await drip('/uploads/organization/document')).to.match(/^HTTP\/1.1 404 /);
  });

  it('fast enough is waited for, however long it takes', async () => {
    const { organizationId, owner } = tenant;
    const body = JSON.stringify({ organizationId, name: 'Slow', slug: 'slow' }).padEnd(30_000);
    const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${api.url}/api/v1/workspaces`, { method: 'POST', headers });
    const answered = once(sent, 'response');
    for (let at = 0; at < body.length; at += 1_000) {
      sent.write(body.slice(at, at + 1_000));
      await sleep(bodyMs / 10);
    }
    sent.end();
    const [response] = (await answered) as [IncomingMessage];
    expect([response.resume().statusCode]).to.deep.equal([200]);
  });

  it('leaves the log without errors', () => {
    expect(api.stack.readLog('api')).not.to.include('"level":50');
  });
});

describe('A request whose body takes long', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });

  it('keeps the session that it began with', async () => {
    const body = JSON.stringify({ organizationId: tenant.organizationId, name: 'Patient', slug: 'patient' });
    const member = await api.signUp();
    await api.addMember(tenant.organizationId, member, 'member');
    const headers = { authorization: `Bearer ${member.token}`, 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${api.url}/api/v1/workspaces`, { method: 'POST', headers });
    const answered = once(sent, 'response');
    sent.write(body.slice(0, 10));
    await sleep(500);
    await api.database.db.deleteFrom('session').where('userId', '=', member.id).execute();
    sent.end(body.slice(10));
    const [response] = (await answered) as [IncomingMessage];
    expect(response.resume().statusCode).to.equal(200);
  });
});
