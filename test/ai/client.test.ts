import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { expect } from 'chai';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { type AiClient, AiServiceError, createAiClient } from '../../adapters/ai-service/client.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { useAiService } from './support/use-ai-service.ts';

const failureOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);

describe('the client of the AI service', () => {
  const service = useAiService();

  it('streams a document from a file and from the web kind of stream', async () => {
    const contentType = 'application/pdf';
    const file = () => createReadStream('docs/examples/samples/observatory-handbook.pdf');
    const fromFile = await service.client.extract({ body: file(), contentType, requestId: 'from.a.file' });
    expect(fromFile.pages).to.equal(5);
    const fromWeb = await service.client.extract({ body: Readable.toWeb(file()) as ReadableStream<Uint8Array>, contentType });
    expect(fromWeb).to.deep.equal(fromFile);
    await service.program.printed(/"requestId":"from\.a\.file"/);
  });

  it('reuses its connections', async () => {
    const ports = new Set<number>();
    const model = { model: 'm', dimensions: 1, chunk_characters: 1_200, texts_per_call: 32 };
    const fake = await startFake((request, response) => {
      ports.add(request.socket.remotePort ?? 0);
      response.end(JSON.stringify({ ok: true, provider: 'local', ocr: 'none', auth: 'token', problems: [], embeddings: [model] }));
    });
    for (let index = 0; index < 20; index += 1) await fake.client.health();
    // One may still be closing its answer when the next request goes out.
    expect(ports.size).to.be.below(5);
    await fake.stop();
  });

  it('reads the same vectors as numbers and as 32-bit floats', async () => {
    const texts = ['bees', 'honey from the lime trees', ''];
    const numbers = await service.client.embed({ texts });
    const floats = await service.client.embedFloats({ texts });
    expect(floats).to.include({ model: numbers.model, dimensions: numbers.dimensions });
    expect(floats.vectors.map((vector) => Array.from(vector))).to.deep.equal(numbers.vectors.map((vector) => vector.map(Math.fround)));
  });

  it('refuses floats that are none', async () => {
    const answering = (vectors: unknown) =>
      startFake((_request, response) => response.end(JSON.stringify({ model: 'm', dimensions: 2, vectors })));
    const base64 = (...floats: number[]) => Buffer.from(Float32Array.from(floats).buffer).toString('base64');
    const short = base64(1);
    for (const vectors of [[short], [base64(1, 2, 3)], ['!'.repeat(12)], [base64(1, Number.NaN)], [base64(1, 2), base64(1, 2)], [[1, 2]]]) {
      const odd = await answering(vectors);
      expect(await failureOf(odd.client.embedFloats({ texts: ['a'] })), String(vectors)).to.include({ kind: 'unusable_answer' });
      await odd.stop();
    }
  });

  it('calls a refusal of the document final, and a wrong token not', async () => {
    const refused = await failureOf(service.client.extract({ body: Buffer.from('x'), contentType: 'application/zip' }));
    expect(refused)
      .to.be.instanceOf(AiServiceError)
      .and.include({ kind: 'rejected', status: 415, code: 'unsupported_type', retryable: false });
    const stranger = createAiClient({ baseUrl: service.url, token: 'wrong' });
    expect(await failureOf(stranger.embed({ texts: ['a'] }))).to.include({ kind: 'rejected', status: 401, retryable: true });
  });

  it('ends at once with the reason of its signal', async () => {
    const asked = Promise.withResolvers<void>();
    const fake = await startFake(() => asked.resolve());
    const leaving = new AbortController();
    const reason = new Error('shutting down');
    const call = failureOf(fake.client.embed({ texts: ['a'], signal: leaving.signal }));
    await asked.promise;
    leaving.abort(reason);
    expect(await call).to.equal(reason);
    expect(await failureOf(fake.client.health({ signal: leaving.signal }))).to.equal(reason);
    await fake.stop();
  });

  it('hands on the error of the stream that it was given', async () => {
    const lost = new Error('the object is gone');
    const stream = new PassThrough();
    stream.write('the beginning');
    const call = failureOf(service.client.extract({ body: stream, contentType: 'text/plain' }));
    await until(() => stream.readableLength === 0);
    stream.destroy(lost);
    expect(await call).to.equal(lost);
    const short = failureOf(
      service.client.extract({ body: Readable.from([Buffer.from('abc')]), contentType: 'text/plain', contentLength: 5 }),
    );
    expect(await short).to.include({ kind: 'unreachable', retryable: true });
  });

  it('tells a connection that is lost in the middle of a document from a source that fails', async () => {
    // It reads nothing, so that the document waits in the middle of its way.
    const fake = await startFake((request) => setTimeout(() => request.socket.destroy(), 300));
    const body = Readable.from(chunksOf(2_000));
    expect(await failureOf(fake.client.extract({ body, contentType: 'text/plain' }))).to.include({ kind: 'unreachable', retryable: true });
    await fake.stop();
  });

  it('outlives a stream that its owner takes back after an early refusal', async () => {
    const fake = await startFake((_request, response) => {
      response.writeHead(413, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { code: 'too_large', message: 'Too large.' } }));
    });
    const endless = new Readable({
      read() {
        setTimeout(() => this.push(Buffer.alloc(64 * 1024)), 1);
      },
    });
    expect(await failureOf(fake.client.extract({ body: endless, contentType: 'text/plain' }))).to.include({ status: 413 });
    endless.destroy();
    // An error without a listener would end the process, and this test.
    await staysTrue(() => endless.errored === null, 100);
    await fake.stop();
  });

  it('tells an absent service, a slow one and a nonsensical one apart', async () => {
    const absent = createAiClient({ baseUrl: 'http://127.0.0.1:9', token: 't' });
    expect(await failureOf(absent.health())).to.include({ kind: 'unreachable', code: 'unreachable', retryable: true });

    const unread = absent.extract({ body: createReadStream('package.json'), contentType: 'text/plain' });
    expect(await failureOf(unread)).to.include({ kind: 'unreachable', code: 'unreachable', retryable: true });

    const silent = await startFake(() => {}, { healthMs: 100 });
    expect(await failureOf(silent.client.health())).to.include({ kind: 'unreachable', code: 'timeout', retryable: true });
    await silent.stop();

    for (const body of [
      '<html>',
      '{}',
      '{"model":"m","dimensions":2,"vectors":[[1]]}',
      '{"model":"m","dimensions":1,"vectors":[["1"]]}',
      '{"model":"m","dimensions":1,"vectors":[[null]]}',
      '{"model":"m","dimensions":1,"vectors":["1"]}',
      '{"model":"m","dimensions":1,"vectors":[[1],[2]]}',
    ]) {
      const odd = await startFake((_request, response) => response.end(body));
      expect(await failureOf(odd.client.embed({ texts: ['a'] })), body).to.include({
        kind: 'unusable_answer',
        status: 200,
        retryable: true,
      });
      await odd.stop();
    }
    const huge = await startFake((_request, response) =>
      response.end(JSON.stringify({ model: 'm', dimensions: 2 ** 40, vectors: ['AAAA'] })),
    );
    expect(await failureOf(huge.client.embedFloats({ texts: ['a'] }))).to.include({ kind: 'unusable_answer' });
    await huge.stop();
  });

  it('waits for vectors and for the text of a document as long as an attempt may take', async () => {
    const late = (body: unknown) => (_request: IncomingMessage, response: ServerResponse) =>
      void setTimeout(() => response.end(JSON.stringify(body)), 500);
    const short = { embedMs: 100, extractMs: 100, summarizeMs: 100 };
    const embedder = await startFake(late({ model: 'm', dimensions: 1, vectors: [[1]] }), short, 60_000);
    expect(await embedder.client.embed({ texts: ['a'] })).to.include({ model: 'm' });
    expect(await failureOf(embedder.client.summarize({ text: 'a' }))).to.include({ code: 'timeout' });
    await embedder.stop();
    const noOutline = { page_starts: null, headings: [] };
    const reader = await startFake(
      late({ text: 'a', characters: 1, pages: null, truncated: false, content_type: 'text/plain', outline: noOutline }),
      short,
      60_000,
    );
    expect(await reader.client.extract({ body: Buffer.from('a'), contentType: 'text/plain' })).to.include({ text: 'a' });
    await reader.stop();
  });

  it('waits so long for the head of a response, and within it, whatever a connection would wait by itself', async () => {
    const usual = getGlobalDispatcher();
    const impatient = new Agent({ headersTimeout: 200, bodyTimeout: 200 });
    setGlobalDispatcher(impatient);
    const body = JSON.stringify({ model: 'm', dimensions: 1, vectors: [[1]] });
    const lateWith: Record<string, (response: ServerResponse) => void> = {
      head: () => {},
      rest: (response) => response.write(body.slice(0, 5)),
    };
    try {
      for (const [part, begin] of Object.entries(lateWith)) {
        const fake = await startFake((_request, response) => {
          begin(response);
          // A connection looks at its clock every half second only.
          setTimeout(() => response.end(part === 'head' ? body : body.slice(5)), 1_200);
        });
        expect(await failureOf(fake.client.embed({ texts: ['a'] })), part).to.equal(undefined);
        await fake.stop();
      }
    } finally {
      setGlobalDispatcher(usual);
      await impatient.close();
    }
  });

  it('judges every status, and reads Retry-After', async () => {
    for (const [status, kind, retryable] of [
      [400, 'rejected', false],
      [401, 'rejected', true],
      [408, 'rejected', false],
      [422, 'rejected', false],
      [429, 'rejected', true],
      [500, 'failed', true],
      [503, 'failed', true],
    ] as const) {
      const fake = await startFake((request, response) => {
        request.resume();
        response.writeHead(status, { 'retry-after': '3' }).end('{"error":{"code":"some_code","message":"Some words."}}');
      });
      const error = await failureOf(fake.client.extract({ body: Buffer.from('x'), contentType: 'text/plain' }));
      expect(error, String(status)).to.include({ kind, status, retryable, code: 'some_code', message: 'Some words.', retryAfterMs: 3000 });
      await fake.stop();
    }
    const bare = await startFake((_request, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'));
    expect(await failureOf(bare.client.health())).to.include({ kind: 'failed', status: 502, code: 'http_502', retryAfterMs: undefined });
    await bare.stop();
  });
});

async function startFake(listener: RequestListener, timeouts = {}, attemptMs = 0): Promise<{ client: AiClient; stop(): Promise<void> }> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    client: createAiClient({ baseUrl, token: 't', timeouts, attemptMs }),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function* chunksOf(count: number): Generator<Buffer> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(64 * 1024);
}
