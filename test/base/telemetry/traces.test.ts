import { randomBytes } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { bundleWorkflows } from '../../../worker/workflow-bundle.ts';
import { aiError } from '../../support/fake-ai.ts';
import { resultOf, summary } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { withTimes } from '../../support/times.ts';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../../support/trace-collector.ts';
import { useApi } from '../../support/use-api.ts';

const content = 'The queen SECRET leaves the hive in May. Bees follow her.';

/** The spans of a job that lead to its attempts, and those of one that indexes an upload. */
const ofJob = ['POST jobs.create', 'StartWorkflow:runJob', 'RunActivity:runJobAttempt', 'RunWorkflow:runJob'];
const ofUpload = ['POST documents.createUpload', 'PUT uploads', 'POST documents.complete'];
const ofIndexing = [...ofUpload, 'insert outbox', ...ofJob, 'storage read', 'AI /v1/extract', 'AI /v1/embed', 'insert chunk'];

describe('The trace of a job', () => {
  let collector: TraceCollector;
  const { api, ai, tenant } = useApi({
    ai: true,
    services: ['api', 'worker'],
    env: async () => {
      collector = await startTraceCollector();
      return withTimes(
        { spanExport: 100, jobRetryDelays: [50] },
        {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
          LOG_LEVEL: 'debug',
        },
      );
    },
    check: 'at the end',
  });
  after(() => collector.stop());
  afterEach(() => ai.behave('summarize'));

  function newTrace(flags = '01') {
    const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
  }

  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<any> {
    const { status, body: answer } = await api.request('POST', `/api/v1${path}`, { token: tenant.owner.token, body, headers });
    expect(status, JSON.stringify(answer)).to.equal(200);
    return answer;
  }

  /** Uploads a document and has it indexed, all in one trace of the client's. */
  async function index(headers: Record<string, string>): Promise<{ jobId: string; signed: string }> {
    const bytes = new TextEncoder().encode(content);
    const file = { workspaceId: tenant.workspaceId, name: 'SECRET.txt', contentType: 'text/plain', size: bytes.length };
    const { document, upload } = await post('/documents', file, headers);
    await fetch(upload.url, { method: 'PUT', headers: { ...upload.headers, ...headers }, body: bytes });
    await post(`/documents/${document.id}/complete`, {}, headers);
    const { id: jobId } = await post('/jobs', { kind: 'document.index', documentId: document.id }, headers);
    await api.jobIn(tenant.owner.token, jobId, ['succeeded']);
    return { jobId, signed: new URL(upload.url).searchParams.get('signature') ?? '' };
  }

  const spansOf = (traceId: string, name: string) => collector.spansOf(traceId).filter((span) => span.name === name);

  /** Waits until the collector has spans of these names: the API and the worker send theirs in no order. */
  const untilCollected = (traceId: string, names: string[]) =>
    until(() => names.every((name) => spansOf(traceId, name).length > 0)).catch((error) => {
      const collected = new Set(collector.spansOf(traceId).map(({ name }) => name));
      throw new Error(`these spans were not collected: ${names.filter((name) => !collected.has(name))}`, { cause: error });
    });

  /** The names of a span and of those that it is a part of, up to what the collector does not know. */
  function pathOf(span: CollectedSpan | undefined): string[] {
    if (!span) return [];
    const parent = collector.spans.find(({ traceId, spanId }) => traceId === span.traceId && spanId === span.parentSpanId);
    return [span.name, ...(parent ? pathOf(parent) : [span.parentSpanId ?? 'none'])];
  }

  it('leads from the request through outbox, workflow and activity to the statements and the AI service, and tells no contents', async () => {
    const { traceId, spanId, headers } = newTrace();
    const { jobId, signed } = await index(headers);
    await untilCollected(traceId, ofIndexing);
    const attempt = ['RunActivity:runJobAttempt', 'RunWorkflow:runJob', 'StartWorkflow:runJob'];
    const path = [...attempt, 'POST jobs.create', spanId];
    const workOf = (name: string) => spansOf(traceId, name).map(pathOf);
    expect(workOf('AI /v1/extract')).to.deep.equal([['AI /v1/extract', ...path]]);
    expect(workOf('AI /v1/embed')).to.deep.equal([['AI /v1/embed', ...path]]);
    expect(workOf('storage read')).to.deep.equal([['storage read', ...path]]);
    expect(workOf('insert chunk')).to.deep.include(['insert chunk', ...path]);
    expect(workOf('insert outbox')).to.deep.include(['insert outbox', 'POST jobs.create', spanId]);
    for (const name of ofUpload) expect(workOf(name), name).to.deep.equal([[name, spanId]]);
    const [activity] = spansOf(traceId, 'RunActivity:runJobAttempt');
    expect(activity).to.deep.include({ process: 'worker', status: 0 });
    expect(activity?.attributes).to.include({ 'sheaf.job_id': jobId, 'sheaf.workflow_id': `job-${jobId}` });
    const [request] = spansOf(traceId, 'POST jobs.create');
    expect(request?.process).to.equal('api');
    expect(request?.attributes).to.include({ 'sheaf.organization_id': tenant.organizationId, 'http.response.status_code': 200 });
    expect(spansOf(traceId, 'RunWorkflow:runJob')[0]).to.deep.include({ process: 'worker' });
    expect(collector.headers).to.include({ 'x-key': 'a key' });
    const received = collector.received.join('\n');
    expect(signed).to.have.length.above(20);
    for (const secret of ['SECRET', 'queen', signed, tenant.owner.token.split('.')[0] ?? '', tenant.owner.email, 'signature='])
      expect(received).not.to.include(secret);
    const handle = api.temporal.client.workflow.getHandle(`job-${jobId}`);
    await handle.result();
    const history = await handle.fetchHistory();
    expect(history.events?.[0]?.workflowExecutionStartedEventAttributes?.header?.fields).to.have.property('_tracer-data');
    await Worker.runReplayHistory({ workflowBundle: await bundleWorkflows() }, history, `job-${jobId}`);
  });

  it('is a trace of its own if the client names none', async () => {
    const { id } = await post('/jobs', { ...summary, organizationId: tenant.organizationId });
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    const found = () =>
      collector.spans.find(({ name, attributes }) => name === 'RunActivity:runJobAttempt' && attributes['sheaf.job_id'] === id);
    await until(() => found() !== undefined);
    await untilCollected(found()?.traceId ?? '', ofJob);
    expect(pathOf(found()).slice(-2)).to.deep.equal(['POST jobs.create', 'none']);
  });

  it('is found by the lines of the log, and tells of a failure without its message', async () => {
    const { traceId, headers } = newTrace();
    ai.behave('summarize', () => aiError(413, 'text_too_long'));
    const { id } = await post('/jobs', { ...summary, organizationId: tenant.organizationId }, headers);
    await api.jobIn(tenant.owner.token, id, ['failed']);
    await resultOf(api, id).catch(() => undefined);
    await untilCollected(traceId, [...ofJob, 'AI /v1/summarize']);
    for (const name of ['AI /v1/summarize', 'RunActivity:runJobAttempt', 'RunWorkflow:runJob'])
      expect(
        spansOf(traceId, name).map(({ status }) => status),
        name,
      ).to.deep.equal([2]);
    expect(collector.received.join()).not.to.include('The fake service says');
    const lines = () => api.stack.readLog('worker').split('\n');
    await until(() => lines().some((line) => line.includes('the attempt failed') && line.includes(id)));
    const line = lines().find((each) => each.includes('the attempt failed') && each.includes(id)) ?? '';
    expect(JSON.parse(line)).to.include({ traceId, jobId: id });
  });

  it('tells of a stream that its client leaves, which is no failure', async () => {
    const { traceId, headers } = newTrace();
    const client = new AbortController();
    const url = `${api.url}/api/v1/organizations/${tenant.organizationId}/jobs/stream`;
    const options = { headers: { authorization: `Bearer ${tenant.owner.token}`, ...headers }, signal: client.signal };
    expect((await fetch(url, options)).status).to.equal(200);
    client.abort();
    await untilCollected(traceId, ['GET jobs.stream']);
    const [stream] = spansOf(traceId, 'GET jobs.stream');
    expect(stream?.status).to.equal(0);
    expect(stream?.attributes).to.include({ 'sheaf.aborted': true, 'http.response.status_code': 200 });
    expect(stream?.attributes).to.not.have.property('error.type');
  });

  it('is not made if the client says that it is not recorded', async () => {
    const { traceId, headers } = newTrace('00');
    await index(headers);
    const later = newTrace();
    await index(later.headers);
    await untilCollected(later.traceId, ofIndexing);
    expect(collector.spansOf(traceId)).to.deep.equal([]);
  });

  it('is not filled by scheduled work, polls and probes', async () => {
    await fetch(`${api.url}/healthz`);
    await api.temporal.client.schedule.getHandle('sweep-jobs').trigger();
    const ran = async () => {
      for await (const _ of api.temporal.client.workflow.list({ query: "WorkflowType = 'sweepJobs' and ExecutionStatus = 'Completed'" }))
        return true;
      return false;
    };
    await until(ran);
    const { traceId, headers } = newTrace();
    await index(headers);
    await untilCollected(traceId, ofIndexing);
    const roots = collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name);
    expect(roots.filter((name) => !/^(GET|POST|PUT) /.test(name) || name.endsWith(' health'))).to.deep.equal([]);
    expect(collector.spans.filter(({ name }) => name.includes('sweepJobs'))).to.deep.equal([]);
  });
});
