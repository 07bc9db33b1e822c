import { expect } from 'chai';
import { sql } from 'kysely';
import { expectOk } from '../../support/requests.ts';
import { violationsOf } from './support/axe.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The page of a job in the console', () => {
  const { api, open, tenant } = useConsole({ WORKER_ENABLED: 'false' });
  let documentId: string;
  let jobId: string;

  const change = (values: object, id = jobId) =>
    api.database.db
      .updateTable('job')
      .set({ ...values, updated_at: sql`clock_timestamp()` })
      .where('id', '=', id)
      .execute();

  before(async () => {
    const { token } = tenant.owner;
    documentId = (await api.upload(tenant, { name: 'report.txt', bytes: 'One. Two.' })).id;
    const body = { kind: 'document.summarize', documentId };
    jobId = (await expectOk(api.request('POST', '/api/v1/jobs', { token, body }))).body.id;
  });

  it('is reached from the list and from the document, and follows the job to its end', async () => {
    const { page, complaints } = await open(pathOf(tenant, 'jobs'), { as: tenant.owner });
    await page.getByRole('link', { name: 'Summarize', exact: true }).click();
    await page.getByRole('heading', { name: 'Summarize', exact: true }).waitFor();
    const course = page.getByRole('list', { name: 'What happened' });
    expect(await course.getByRole('listitem').count()).to.equal(1);
    const fact = (name: string) => page.locator('.facts > div').filter({ has: page.getByText(name, { exact: true }) });
    await fact('Attempts').getByText('0 of 4').waitFor();
    await fact('Started by').getByText('Ada', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();

    const failed = { attempts: 1, started_at: new Date(), error_code: 'ai_unreachable', error_message: 'The AI service is away.' };
    await change({ ...failed, status: 'running' });
    await course.getByText('First attempt began').waitFor();
    await change({ status: 'queued', next_attempt_at: new Date(Date.now() + 600_000) });
    await page.getByRole('alert').getByText('The AI service is away.').waitFor();
    await course
      .getByText('Next attempt')
      .getByText(/in 10 minutes/)
      .waitFor();

    const result = JSON.stringify({ summary: 'The short of it.', sentences: 1, model: 'fake', characters: 9 });
    const finished = { error_code: null, error_message: null, next_attempt_at: null, finished_at: new Date() };
    await change({ ...finished, status: 'succeeded', attempts: 2, result });
    await page.getByRole('region', { name: 'What it made' }).getByText('The short of it.').waitFor();
    await course.getByText('Attempt 2 began').waitFor();
    await course.getByText(/^Succeeded, after/).waitFor();
    expect(await page.getByRole('button', { name: /Cancel|Try again/ }).count()).to.equal(0);

    await fact('Document').getByRole('link', { name: 'report.txt' }).click();
    const jobs = page.getByRole('region', { name: 'Jobs of this document' });
    await jobs.getByRole('link', { name: 'Summarize' }).click();
    await page.getByRole('region', { name: 'What it made' }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('says why a job failed and what was given back, and leads to the next try, if one can succeed', async () => {
    await change({ status: 'failed', result: null, error_code: 'ai_unreachable', error_message: 'away', finished_at: new Date() });
    const { page } = await open(pathOf(tenant, `jobs/${jobId}`), { as: tenant.owner, viewport: { width: 390, height: 800 } });
    await page.getByText('None: 5 credits given back').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'the job before it' }).waitFor();
    await page.getByText('Queued', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'the job before it' }).click();
    await page.getByText('The last attempt failed (ai_unreachable)').waitFor();

    await change({ error_code: 'encrypted_document', error_message: 'needs a password' });
    await page.reload();
    await page.getByText('Another try would fail in the same way').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).to.equal(0);
  });
});
