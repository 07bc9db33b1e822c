import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { aiError } from '../../support/fake-ai.ts';
import { until } from '../../support/processes.ts';
import { useApi } from '../../support/use-api.ts';

describe('A line that is logged during a request', () => {
  const { api, ai, tenant } = useApi({ ai: true });

  /** The lines that have the id of a request, once one with the message is there. */
  async function linesOf(requestId: string, message: string): Promise<any[]> {
    const find = () =>
      api.stack
        .readLog('api')
        .split('\n')
        .filter((line) => line.includes(requestId) && line.endsWith('}'))
        .map((line) => JSON.parse(line));
    await until(() => find().some(({ msg }) => msg === message), 10_000);
    return find();
  }

  it('has its id and the organization', async () => {
    await api.upload(tenant, { bytes: 'A text.' });
    const { workspaceId, organizationId, owner } = tenant;
    ai.behave('embed', () => aiError(500, 'broken'));
    const requestId = randomUUID();
    await api.rpc('documents.search', { workspaceId, query: 'bees' }, { token: owner.token, headers: { 'x-request-id': requestId } });
    for (const line of await linesOf(requestId, 'a query could not be embedded'))
      expect(line, JSON.stringify(line)).to.include({ requestId, organizationId });
  });

  it('has the id of what the request has made', async () => {
    const { organizationId, owner } = tenant;
    const headers = { 'x-request-id': randomUUID() };
    const body = { organizationId, kind: 'text.embed', texts: ['a'] };
    const made = await api.request('POST', '/api/v1/jobs', { token: owner.token, headers, body });
    const isLine = ({ msg }: { msg: string }) => msg === 'request';
    expect((await linesOf(headers['x-request-id'], 'request')).find(isLine)).to.include({ createdId: made.body.id });
    const requestId = randomUUID();
    await api.request('POST', `/api/v1/jobs/${made.body.id}/cancel`, { token: owner.token, headers: { 'x-request-id': requestId } });
    expect((await linesOf(requestId, 'request')).find(isLine)).to.not.have.property('createdId');
  });

  it('has them when the request fails inside', async () => {
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    const { organizationId, owner } = tenant;
    // A directory in which no object can be looked up.
    const directory = join(api.stack.dataDir, 'objects', organizationId);
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');
    const headers = { 'x-request-id': randomUUID() };
    const created = await api.request('POST', '/api/v1/documents', {
      token: owner.token,
      body: { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 7 },
    });
    const path = `/api/v1/documents/${created.body.document.id}/complete`;
    const answer = await api.request('POST', path, { token: owner.token, headers });
    expect(answer.status, id).to.be.at.least(400);
    rmSync(directory);
    for (const line of await linesOf(headers['x-request-id'], 'request')) expect(line, JSON.stringify(line)).to.include({ organizationId });
  });

  it('has them in a stream, whoever asks for its next event', async () => {
    const { organizationId, owner } = tenant;
    const requestId = randomUUID();
    const leaving = new AbortController();
    const response = await fetch(`${api.url}/api/v1/organizations/${organizationId}/jobs/stream`, {
      headers: { authorization: `Bearer ${owner.token}`, 'x-request-id': requestId },
      signal: leaving.signal,
    });
    expect(response.status).to.equal(200);
    const row = { id: randomUUID(), organization_id: organizationId, kind: 'text.summarize', credits: 0, max_attempts: 1 } as const;
    const ended = { status: 'failed', finished_at: new Date(), error_code: 'timeout', error_message: 'late' } as const;
    await api.database.db
      .insertInto('job')
      .values({ ...row, ...ended, credit_month: '2026-01-01', input: JSON.stringify({ text: 'a', maxSentences: 'many' }) })
      .execute();
    const found = await linesOf(requestId, 'an event does not fit the contract; its stream skips it');
    leaving.abort();
    for (const line of found) expect(line, JSON.stringify(line)).to.include({ organizationId });
  });

  it('names the organization of an upload once its signature is right', async () => {
    const { organizationId, owner, workspaceId } = tenant;
    const body = { workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1 };
    const { body: created } = await api.request('POST', '/api/v1/documents', { token: owner.token, body });
    const headers = { ...created.upload.headers, 'x-request-id': randomUUID() };
    const wrong = randomUUID();
    await fetch(`${created.upload.url}0`, { method: 'PUT', headers: { ...headers, 'x-request-id': wrong }, body: 'a' });
    await fetch(created.upload.url, { method: 'PUT', headers, body: 'a' });
    expect((await linesOf(headers['x-request-id'], 'request'))[0]).to.include({ organizationId, status: 200 });
    expect((await linesOf(wrong, 'request'))[0])
      .to.include({ status: 403 })
      .and.not.have.property('organizationId');
  });
});
