import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { refusalOf, startAiService, token } from './support/ai-service.ts';
import { useAiService } from './support/use-ai-service.ts';

describe('the AI service over HTTP', () => {
  const service = useAiService();

  const post = (path: string, body: unknown) => service.ask(path, { method: 'POST', body: JSON.stringify(body) });

  it('refuses a missing or wrong token everywhere but at /health', async () => {
    const paths = [
      '/v1/extract',
      '/v1/summarize',
      '/v1/embed',
      '/v1/answer',
      '/v1/fields',
      '/v1/rerank',
      '/openapi.json',
      '/docs',
      '/redoc',
      '/nowhere',
    ];
    for (const path of paths) {
      for (const headers of [{}, { 'x-service-token': '' }, { 'x-service-token': `${token}x` }] as Record<string, string>[]) {
        const method = path.startsWith('/v1/') ? 'POST' : 'GET';
        const response = await fetch(`${service.url}${path}`, { method, headers });
        expect(await refusalOf(response), path).to.deep.equal([401, 'unauthorized']);
      }
    }
    expect((await fetch(`${service.url}/health`)).status).to.equal(200);
  });

  it('echoes a well-formed request id and makes one otherwise', async () => {
    const idOf = async (given: string) =>
      (await service.ask('/health', { headers: { 'x-request-id': given } })).headers.get('x-request-id');
    expect(await idOf('job_7.attempt-2')).to.equal('job_7.attempt-2');
    expect(await idOf('not well-formed')).to.match(/^[0-9a-f-]{36}$/);
    expect(await idOf('x'.repeat(129))).to.match(/^[0-9a-f-]{36}$/);
    const refused = await fetch(`${service.url}/v1/embed`, { method: 'POST', headers: { 'x-request-id': 'refused.1' } });
    expect(refused.headers.get('x-request-id')).to.equal('refused.1');
  });

  it('reports its state at /health', async () => {
    const health = await (await fetch(`${service.url}/health`)).json();
    const embeddings = [{ model: 'local-hash-256', dimensions: 256, chunk_characters: 1_200, texts_per_call: 32 }];
    expect(health).to.deep.equal({ ok: true, provider: 'local', chat: 'local', ocr: 'none', auth: 'token', problems: [], embeddings });
  });

  it('describes itself in OpenAPI 3.1 and on pages that load nothing from elsewhere', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const document = (await (await service.ask('/openapi.json')).json()) as { openapi: string; info: { version: string }; paths: object };
    expect(document.openapi).to.equal('3.1.0');
    expect(document.info.version).to.equal(version);
    expect(await new Validator().validate(document)).to.deep.equal({ valid: true });
    expect(document.paths).to.have.keys(
      '/v1/extract',
      '/v1/summarize',
      '/v1/embed',
      '/v1/answer',
      '/v1/rewrite',
      '/v1/fields',
      '/v1/rerank',
      '/health',
    );
    for (const path of ['/docs', '/redoc']) {
      const page = await service.ask(path);
      expect(page.headers.get('content-type')).to.contain('text/html');
      expect(await page.text())
        .to.contain('POST /v1/extract')
        .and.not.match(/(?:src|href)=/);
    }
  });

  it('describes the outline, raw bytes and every kind of refusal', async () => {
    const { paths } = (await (await service.ask('/openapi.json')).json()) as { paths: any };
    const { parameters, requestBody, responses } = paths['/v1/extract'].post;
    expect(parameters.map(({ name }: { name: string }) => name)).to.include('x-outline');
    expect(requestBody.content).to.have.keys('application/json', '*/*');
    expect(responses).to.have.keys('200', '400', '401', '408', '413', '415', '422', '500', '502', '503');
    expect(responses[413].content['application/json'].schema.$ref).to.equal('#/components/schemas/Error');
    const { vectors } = paths['/v1/embed'].post.responses[200].content['application/json'].schema.properties;
    expect(vectors.anyOf.map((one: any) => one.items.type)).to.deep.equal(['array', 'string']);
  });

  it('answers unknown paths and methods with 404', async () => {
    expect(await refusalOf(await service.ask('/v2/extract'))).to.deep.equal([404, 'not_found']);
    expect(await refusalOf(await service.ask('/v1/extract'))).to.deep.equal([404, 'not_found']);
  });

  it('refuses malformed and invalid JSON, naming the field', async () => {
    const malformed = await service.ask('/v1/summarize', { method: 'POST', body: '{"text": ' });
    expect(await refusalOf(malformed)).to.deep.equal([400, 'malformed_json']);
    for (const [path, body, field] of [
      ['/v1/summarize', {}, 'text'],
      ['/v1/summarize', { text: '' }, 'text'],
      ['/v1/summarize', { text: 'a', max_sentences: 0 }, 'max_sentences'],
      ['/v1/summarize', { text: 'a', max_sentences: 51 }, 'max_sentences'],
      ['/v1/embed', { texts: [] }, 'texts'],
      ['/v1/embed', { texts: Array(65).fill('a') }, 'texts'],
      ['/v1/embed', { texts: ['a', 1] }, 'texts.1'],
      ['/v1/embed', [], 'body'],
    ] as const) {
      const response = await post(path, body);
      expect(response.status, JSON.stringify(body)).to.equal(422);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect(error.code).to.equal('invalid_request');
      expect(error.message).to.contain(field);
    }
  });

  it('refuses texts over their limits with 413', async () => {
    expect((await post('/v1/summarize', { text: `${'One two. '.repeat(22_222)}ab` })).status).to.equal(200);
    expect(await refusalOf(await post('/v1/summarize', { text: 'a'.repeat(200_001) }))).to.deep.equal([413, 'text_too_long']);
    expect(await refusalOf(await post('/v1/summarize', { text: 'a'.repeat(2_600_000) }))).to.deep.equal([413, 'too_large']);
    expect(await refusalOf(await post('/v1/embed', { texts: ['a'.repeat(8001)] }))).to.deep.equal([413, 'text_too_long']);
  });

  const extract = async (body: string, contentType: string) => (await service.extract(body, contentType)).json();

  it('answers text, count, pages, truncation and type', async () => {
    expect(await extract('Grüße, 世界 🌊', 'text/plain; charset=utf-8')).to.deep.equal({
      text: 'Grüße, 世界 🌊',
      characters: 11,
      pages: null,
      truncated: false,
      content_type: 'text/plain',
    });
    expect(await extract('X', 'Text/X-Markdown')).to.include({ content_type: 'text/markdown' });
  });

  it('unwraps the base64 form, and takes other JSON as the document', async () => {
    const wrap = (file: unknown) => JSON.stringify({ file });
    const data_base64 = Buffer.from('wräpped').toString('base64');
    const file = { name: 'a.txt', content_type: 'text/plain; charset=utf-8', data_base64 };
    expect(await extract(wrap(file), 'application/json')).to.include({ text: 'wräpped', content_type: 'text/plain' });
    const other = '{"file": {"name": "no data"}}';
    expect(await extract(other, 'application/json; charset=utf-8')).to.include({ text: other, content_type: 'application/json' });
    for (const [body, refusal] of [
      [wrap({ ...file, data_base64: 7 }), [422, 'invalid_request']],
      [wrap({ ...file, content_type: undefined }), [422, 'invalid_request']],
      [wrap({ ...file, data_base64: 'n%t base64' }), [400, 'invalid_base64']],
      [wrap({ ...file, content_type: 'nonsense' }), [415, 'unsupported_type']],
      [wrap({ ...file, data_base64: '' }), [422, 'empty_document']],
      [wrap(file).slice(0, -4), [400, 'malformed_json']],
    ] as const) {
      expect(await refusalOf(await service.extract(body, 'application/json')), body).to.deep.equal(refusal);
    }
  });

  it('refuses other types, no type and nothing at all', async () => {
    for (const type of ['application/zip', 'application/octet-stream', 'text/rtf', 'constructor/x', 'nonsense', '']) {
      expect(await refusalOf(await service.extract(Buffer.from('x'), type)), type).to.deep.equal([415, 'unsupported_type']);
    }
    expect(await refusalOf(await service.extract(Buffer.alloc(0), 'text/plain'))).to.deep.equal([422, 'empty_document']);
  });

  it('refuses a compressed body, which could be of any size', async () => {
    const response = await service.ask('/v1/embed', { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } });
    expect(await refusalOf(response)).to.deep.equal([400, 'unsupported_encoding']);
  });

  it('writes neither tokens nor contents to its log', async () => {
    await post('/v1/summarize', { text: 'The secret word is quinquereme.' });
    await service.program.printed(/"path":"\/v1\/summarize"/);
    expect(service.program.stdout()).to.not.contain(token).and.not.contain('quinquereme');
  });
});

describe('the AI service while its token changes', () => {
  it('takes the new one and the previous one, and no other', async () => {
    const previous = 'the-token-before';
    const service = await startAiService({ SERVICE_TOKEN_PREVIOUS: previous });
    const statusWith = async (given: string) =>
      (await fetch(`${service.url}/openapi.json`, { headers: { 'x-service-token': given } })).status;
    try {
      expect([await statusWith(token), await statusWith(previous), await statusWith('another'), await statusWith('')]).to.deep.equal([
        200, 200, 401, 401,
      ]);
    } finally {
      await service.stop();
    }
  });
});

describe('the AI service without authentication', () => {
  it('serves, and says so at /health', async () => {
    await using service = await startAiService({ SERVICE_TOKEN: '', SERVICE_AUTH_DISABLED: 'true' });
    expect((await fetch(`${service.url}/openapi.json`)).status).to.equal(200);
    const health = await service.client.health();
    expect(health).to.include({ ok: false, auth: 'disabled', ocr: 'none' });
    expect(health.problems.join(' ')).to.contain('SERVICE_AUTH_DISABLED');
  });
});
