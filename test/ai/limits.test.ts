import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { refusalOf, token } from './support/ai-service.ts';
import { useAiService } from './support/use-ai-service.ts';

const maxBytes = 100_000;

describe('the size limits of the AI service', () => {
  const service = useAiService({ MAX_UPLOAD_BYTES: String(maxBytes) });

  const json = (bytes: Buffer) =>
    JSON.stringify({ file: { name: 'a.txt', content_type: 'text/plain', data_base64: bytes.toString('base64') } });

  it('takes a body of exactly MAX_UPLOAD_BYTES and refuses one byte more', async () => {
    expect((await service.extract(Buffer.alloc(maxBytes, 'a'), 'text/plain')).status).to.equal(200);
    expect(await refusalOf(await service.extract(Buffer.alloc(maxBytes + 1, 'a'), 'text/plain'))).to.deep.equal([413, 'too_large']);
  });

  it('holds the base64 form to the same limit', async () => {
    expect((await service.extract(json(Buffer.alloc(maxBytes, 'a')), 'application/json')).status).to.equal(200);
    const over = await service.extract(json(Buffer.alloc(maxBytes + 1, 'a')), 'application/json');
    expect(await refusalOf(over)).to.deep.equal([413, 'too_large']);
    const document = await service.extract(JSON.stringify(['a'.repeat(maxBytes)]), 'application/json');
    expect(await refusalOf(document)).to.deep.equal([413, 'too_large']);
  });

  it('refuses a declared length before a byte of the body is sent', async () => {
    const { status, connection } = await declareOnly(service.url, maxBytes + 1);
    expect([status, connection]).to.deep.equal([413, 'keep-alive']);
  });

  it('stops an endless chunked body at the limit, and the sender still reads the answer', async () => {
    // A sender without a pause would never look for the answer, and the rest of its body is read for 10 s only.
    const endless = new Readable({
      read() {
        setImmediate(() => this.push(Buffer.alloc(65_536, 'a')));
      },
    });
    try {
      const response = await service.extract(endless as never, 'text/plain');
      expect(await refusalOf(response)).to.deep.equal([413, 'too_large']);
    } finally {
      endless.destroy();
    }
  });

  it('lets the client tell a refusal from a broken connection, however large the body', async () => {
    const body = Buffer.alloc(20_000_000, 'a');
    for (const contentLength of [undefined, body.length]) {
      for (let round = 0; round < 2; round += 1) {
        const call = service.client.extract({ body: Readable.from([body]), contentType: 'text/plain', contentLength });
        const error = await call.catch((caught: unknown) => caught);
        expect(error).to.include({ kind: 'rejected', status: 413, code: 'too_large', retryable: false });
      }
    }
  });

  it('keeps serving while senders leave in the middle or say nothing', async () => {
    const silent: ClientRequest[] = [];
    for (let index = 0; index < 30; index += 1) {
      const headers = { 'x-service-token': token, 'content-type': 'text/plain' };
      const sending = request(`${service.url}/v1/extract`, { method: 'POST', headers }).on('error', () => {});
      sending.write('half a sen');
      if (index < 4) silent.push(sending);
      else setTimeout(() => sending.destroy(), index);
    }
    expect((await service.client.extract({ body: Buffer.from('alive'), contentType: 'text/plain' })).text).to.equal('alive');
    for (const sending of silent) sending.destroy();
  });
});

async function declareOnly(url: string, length: number): Promise<{ status: number | undefined; connection: string | undefined }> {
  const headers = { 'x-service-token': token, 'content-type': 'text/plain', 'content-length': length };
  const sending = request(`${url}/v1/extract`, { method: 'POST', headers });
  sending.flushHeaders();
  const [response] = await once(sending, 'response');
  sending.on('error', () => {}).destroy();
  return { status: response.statusCode, connection: response.headers.connection };
}
