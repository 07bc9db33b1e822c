import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect } from 'chai';
import { createPayloadCodec } from '../../adapters/temporal/payload-codec.ts';
import type { Environment } from '../../base/config/environment.ts';
import { loadOpsConfig } from '../../base/config/ops.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { startOps } from '../support/ops.ts';
import { noteTokens } from '../support/run-secrets.ts';

const ui = 'http://ui.example.com:8233';
const key = `a:${randomBytes(32).toString('base64')}`;
const token = randomBytes(24).toString('hex');
noteTokens(key, token);

const codecOf = (keys: string) => createPayloadCodec(loadOpsConfig({ TEMPORAL_PAYLOAD_KEYS: keys }).temporal.payloadKeys);

/** A payload with a text as the UI sends and gets it. */
async function toJson(text: string, keys?: string) {
  const payload = defaultPayloadConverter.toPayload(text);
  const [{ metadata, data } = payload] = keys === undefined ? [payload] : await codecOf(keys).encode([payload]);
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  return { metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])), data: base64(data) };
}

describe('npm run ops -- codec-server', () => {
  let directory: string;
  before(() => {
    directory = makeTestDirectory();
  });
  after(() => removeTestDirectory(directory));

  const envOf = (env: Environment) => ({ DATA_DIR: directory, TEMPORAL_PAYLOAD_KEYS: key, TEMPORAL_UI_URL: `${ui}/`, ...env });

  async function start(env: Environment, ...args: string[]) {
    const program = startOps(['codec-server', '--port', '0', ...args], envOf(env));
    const [, port] = await program.printed(/listens on http:\/\/\S+:(\d+) for the UI at http:\/\/ui\.example\.com:8233\./);
    const url = `http://127.0.0.1:${port}`;
    return {
      program,
      ask: async (path: string, body: unknown, headers: Record<string, string> = { origin: ui }, method = 'POST') => {
        const all = { 'content-type': 'application/json', 'x-namespace': 'default', ...headers };
        const response = await fetch(`${url}${path}`, { method, headers: all, ...(method === 'POST' && { body: JSON.stringify(body) }) });
        const text = await response.text();
        return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
      },
      async stop() {
        program.child.kill('SIGTERM');
        expect(await program.exited).to.deep.equal({ code: 0, signal: null });
      },
    };
  }

  it("decrypts for the UI's pages and for programs, and encrypts what they send", async () => {
    const { ask, stop } = await start({});
    const [plain, encrypted] = [await toJson('a text'), await toJson('a text', key)];
    for (const headers of [{ origin: ui }, {}] as Record<string, string>[]) {
      const decoded = await ask('/decode', { payloads: [encrypted, plain] }, headers);
      expect([decoded.status, decoded.body]).to.deep.equal([200, { payloads: [plain, plain] }]);
      expect(decoded.headers.get('access-control-allow-origin')).to.equal(headers.origin ?? null);
    }
    const encoded = await ask('/encode', { payloads: [plain] });
    expect(encoded.body.payloads[0].metadata.encoding).to.equal(encrypted.metadata.encoding);
    expect((await ask('/decode', encoded.body)).body).to.deep.equal({ payloads: [plain] });
    const asked = await ask('/decode', undefined, { origin: ui, 'access-control-request-headers': 'content-type,x-namespace' }, 'OPTIONS');
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).to.deep.equal([204, ui]);
    expect(asked.headers.get('access-control-allow-headers')).to.equal('content-type,x-namespace');
    await stop();
  });

  it('refuses the pages of other origins', async () => {
    const { ask, stop } = await start({});
    for (const origin of ['http://evil.example.com', 'http://ui.example.com', 'null'])
      for (const method of ['POST', 'OPTIONS']) {
        const refused = await ask('/decode', { payloads: [await toJson('a text', key)] }, { origin }, method);
        expect([refused.status, refused.headers.get('access-control-allow-origin')], origin).to.deep.equal([403, null]);
        expect(refused.body.error.message).to.include(ui);
      }
    await stop();
  });

  it('leaves what it has no key for as it is, and says so once', async () => {
    const { ask, stop, program } = await start({});
    const other = await toJson('a text', `other:${randomBytes(32).toString('base64')}`);
    const broken = { ...(await toJson('a text', key)), data: 'AAAA' };
    for (let count = 0; count < 2; count++) {
      const { status, body } = await ask('/decode', { payloads: [other, broken, await toJson('a text', key)] });
      expect([status, body.payloads]).to.deep.equal([200, [other, broken, await toJson('a text')]]);
    }
    expect(program.stderr().match(/key "other", which TEMPORAL_PAYLOAD_KEYS lacks/g)).to.have.length(1);
    await stop();
  });

  it('demands the token if there is one', async () => {
    const { ask, stop } = await start({ TEMPORAL_CODEC_TOKEN: token }, '--host', '0.0.0.0');
    const body = { payloads: [await toJson('a text', key)] };
    for (const headers of [{}, { authorization: 'Bearer another' }] as Record<string, string>[])
      expect((await ask('/decode', body, headers)).status).to.equal(401);
    expect((await ask('/decode', body, { authorization: `Bearer ${token}` })).status).to.equal(200);
    // A browser asks without it whether it may send it.
    expect((await ask('/decode', undefined, { origin: ui }, 'OPTIONS')).status).to.equal(204);
    await stop();
  });

  it('refuses what is no request of the protocol', async () => {
    const { ask, stop } = await start({});
    for (const body of [{}, { payloads: {} }, { payloads: [{ data: '%' }] }, { payloads: [{ metadata: { encoding: 1 } }] }])
      expect((await ask('/decode', body)).status, JSON.stringify(body)).to.equal(400);
    expect((await ask('/other', { payloads: [] })).status).to.equal(404);
    expect((await ask('/decode', undefined, { origin: ui }, 'GET')).status).to.equal(404);
    await stop();
  });

  for (const [title, env, args, code, told] of [
    ['without keys', { TEMPORAL_PAYLOAD_KEYS: '' }, [], 1, 'TEMPORAL_PAYLOAD_KEYS is not set'],
    ['for everybody in the network', {}, ['--host', '0.0.0.0'], 1, 'set TEMPORAL_CODEC_TOKEN, or let all in with --open'],
    ['on a port that is none', {}, ['--port', '70000'], 2, '--port takes a port, not 70000.'],
    ['with a short token', { TEMPORAL_CODEC_TOKEN: 'short' }, [], 1, 'TEMPORAL_CODEC_TOKEN: must have at least 16 characters'],
  ] as const)
    it(`does not start ${title}`, async () => {
      const program = startOps(['codec-server', ...args], envOf(env));
      expect((await program.exited).code).to.equal(code);
      expect(program.stderr()).to.include(told);
    });
});
