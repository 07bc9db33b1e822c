import { expect } from 'chai';
import { createJob } from '../support/jobs.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const scans = 6;

describe('Short jobs', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { WORKER_CONCURRENCY: '1' }, check: 'at the end' });

  it('pass the scans of their organization that wait', async () => {
    const release: (() => void)[] = [];
    const read: string[] = [];
    ai.behave('extract', async ({ requestId }) => {
      await new Promise<void>((resolve) => release.push(resolve));
      read.push(requestId);
      return { body: { text: 'a', characters: 1, pages: null, truncated: false, content_type: 'text/plain' } };
    });
    const extract = async (name: string, contentType: string, bytes: Buffer) => {
      const { id: documentId } = await api.upload(tenant, { name, contentType, bytes });
      return (await createJob(api, tenant, { kind: 'document.extract', documentId })).id as string;
    };
    const long = [];
    for (let n = 0; n < scans; n += 1) long.push(await extract(`${n}.png`, 'image/png', Buffer.from(`\x89PNG\r\n\x1a\n${n}`, 'latin1')));
    await until(() => release.length === 1);
    const short = await extract('note.txt', 'text/plain', Buffer.from('A note.'));
    const intents = () => api.database.db.selectFrom('outbox').select('id').execute();
    await until(async () => (await intents()).length === 0);
    for (let n = 0; n <= scans; n += 1) {
      await until(() => release.length > n);
      release[n]?.();
    }
    await until(() => read.length === scans + 1);
    for (const id of [...long, short]) await api.jobIn(tenant.owner.token, id, ['succeeded']);
    // One scan was being read, and one may have been taken from the queue before.
    expect(read.indexOf(short)).to.be.at.most(2);
  });
});
