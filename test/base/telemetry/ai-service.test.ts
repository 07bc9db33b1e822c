import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { expect } from 'chai';
import { type Stack, startStack } from '../../../ops/local/stack.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { createJob } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { withTimes } from '../../support/times.ts';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../../support/trace-collector.ts';
import { useApi } from '../../support/use-api.ts';

const text = 'The queen SECRET leaves the hive in May. Bees follow her.';

describe('The AI service', () => {
  let collector: TraceCollector;
  let stack: Stack;
  const { api, tenant } = useApi({
    process: true,
    services: ['api', 'worker'],
    async env() {
      collector = await startTraceCollector();
      const tracing = withTimes({ spanExport: 100 }, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
      const env = { ...tracing, AI_READERS: '1', AI_RECOGNIZERS: '1' };
      stack = await startStack({ dataDir: makeTestDirectory(), services: ['ai'], durable: false, temporalUi: false, env });
      return { ...tracing, AI_SERVICE_URL: stack.aiUrl, SERVICE_TOKEN: stack.serviceToken };
    },
  });
  after(async () => {
    await stack.stop();
    await collector.stop();
    removeTestDirectory(stack.dataDir);
  });

  function newTrace() {
    const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-01` };
  }
  const headersOf = (more: Record<string, string>) => ({
    'x-service-token': stack.serviceToken,
    'content-type': 'application/json',
    ...more,
  });
  const summarize = (headers: Record<string, string>, body: object = { text }) =>
    fetch(`${stack.aiUrl}/v1/summarize`, { method: 'POST', headers: headersOf(headers), body: JSON.stringify(body) });
  /** Sends no more than the headers of a document, and resolves once the service has taken them. */
  async function beginUpload(headers: Record<string, string>): Promise<ClientRequest> {
    const all = headersOf({ 'content-type': 'text/plain', expect: '100-continue', ...headers });
    const upload = request(`${stack.aiUrl}/v1/extract`, { method: 'POST', headers: all }).on('error', () => {});
    upload.flushHeaders();
    await once(upload, 'continue');
    return upload;
  }
  const ofAi = (traceId: string) => collector.spansOf(traceId).filter((span) => span.process === 'ai');

  it('makes its part of a job a span of the trace, below the call of the worker', async () => {
    const { id } = await createJob(api, tenant, { kind: 'text.summarize', text });
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    const served = () => collector.spans.find(({ process, name }) => process === 'ai' && name === 'POST summarize');
    await until(() => served() !== undefined);
    const call = () => collector.spans.find(({ spanId }) => spanId === served()?.parentSpanId);
    await until(() => call() !== undefined);
    expect(call()).to.deep.include({ name: 'AI /v1/summarize', process: 'worker', traceId: served()?.traceId });
    expect(served()?.attributes).to.include({ 'sheaf.operation': 'summarize', 'http.response.status_code': 200 });
    expect(collector.received.join()).not.to.include('SECRET');
  });

  it('tells how a request ended, by which a line of its log is found', async () => {
    const { traceId, spanId, traceparent } = newTrace();
    const refused = await summarize({ traceparent, 'x-request-id': 'a-request' }, { text: '' });
    expect(refused.status).to.be.within(400, 499);
    await until(() => ofAi(traceId).length > 0);
    const [span] = ofAi(traceId) as [CollectedSpan];
    expect(span).to.include({ name: 'POST summarize', parentSpanId: spanId, status: 0 });
    expect(span.attributes).to.include({ 'http.response.status_code': refused.status, 'sheaf.request_id': 'a-request' });
    expect(span.attributes).to.have.property('sheaf.error_code');
    const lines = stack.readLog('ai').split('\n');
    const line = lines.find((each) => each.includes('"a-request"')) ?? '{}';
    expect(JSON.parse(line)).to.include({ status: refused.status });
  });

  it('shows how long a document waited for the others', async () => {
    // As many uploads as are held at once, with one reader: they have begun, and do not end.
    const held: ClientRequest[] = [];
    for (let count = 0; count < 4; count++) held.push(await beginUpload({}));
    const { traceId, traceparent } = newTrace();
    const waiting = await beginUpload({ traceparent });
    for (const upload of held) upload.end('A text.');
    waiting.end(text);
    const [response] = await once(waiting, 'response');
    expect(response.resume().statusCode).to.equal(200);
    await until(() => ofAi(traceId).length === 2);
    const served = ofAi(traceId).find(({ name }) => name === 'POST extract');
    const wait = ofAi(traceId).find(({ name }) => name === 'wait for other documents');
    expect(wait).to.deep.include({ parentSpanId: served?.spanId, status: 0 });
  });

  it('begins no trace of its own, and is told of none by strangers', async () => {
    const strange = newTrace();
    expect((await summarize({ traceparent: strange.traceparent, 'x-service-token': 'another' })).status).to.equal(401);
    await summarize({ 'x-request-id': 'without' });
    await fetch(`${stack.aiUrl}/health`, { headers: { traceparent: strange.traceparent } });
    const later = newTrace();
    await summarize({ traceparent: later.traceparent });
    await until(() => ofAi(later.traceId).length > 0);
    expect(collector.spansOf(strange.traceId)).to.deep.equal([]);
    expect(collector.spans.filter(({ process, parentSpanId }) => process === 'ai' && parentSpanId === undefined)).to.deep.equal([]);
    expect(JSON.stringify(collector.spans)).not.to.include('without');
  });
});
