import { expect } from 'chai';
import { sql } from 'kysely';
import { makePdf } from '../../ai/support/make-pdf.ts';
import { until } from '../../support/processes.ts';
import { expectOk } from '../../support/requests.ts';
import type { Tenant } from '../../support/tenants.ts';
import { violationsOf } from './support/axe.ts';
import { act } from './support/row-menu.ts';
import { pathOf, useConsole } from './support/use-console.ts';

const text = `# Bees

A *roof* is **warm**, see [the lime trees](javascript:window.hacked=1).

| Month | Work |
|---|---|
| May | <img src=x onerror="window.hacked=2"> |

<script>window.hacked=3</script>

- first
  1. second

![a picture](https://attacker.example/pixel.png)

The mirrors are washed in spring.
`;

describe('The list of documents in the console', () => {
  const { api, open, tenant } = useConsole();

  it('keeps the focus where it is while other documents come in', async () => {
    await api.upload(tenant, { name: 'first.txt', bytes: 'The first.' });
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    await page.getByRole('button', { name: 'Actions for first.txt' }).focus();
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { name: 'second.txt', bytes: 'The second.' });
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId } });
    await api.jobIn(token, job.id, ['succeeded']);
    await page.getByRole('row', { name: /second\.txt/ }).waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Actions for first.txt');
  });

  it('says how long ago as far as clocks agree and no more, and calls nothing searchable that has no text', async () => {
    const other = await api.createTenant();
    const { db } = api.database;
    const added = { 'ahead.txt': '3 seconds', 'days.txt': '-47 hours', 'blank.txt': '-59 minutes -50 seconds' };
    for (const [name, from] of Object.entries(added)) {
      const { id } = await api.upload(other, { name, bytes: name });
      await db
        .updateTable('document')
        .set({ created_at: sql`now() + ${from}::interval`, indexed_at: sql`now()`, chunk_count: name === 'blank.txt' ? 0 : 1 })
        .where('id', '=', id)
        .execute();
    }
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    await page.getByRole('row', { name: /ahead\.txt Searchable \d+ B now/ }).waitFor();
    await page.getByRole('row', { name: /days\.txt Searchable \d+ B 1 day ago/ }).waitFor();
    await page.getByRole('row', { name: /blank\.txt No text found \d+ B 59 minutes ago/ }).waitFor();
  });

  it('shows what is left if some of those that are selected could not be deleted', async () => {
    const other = await api.createTenant();
    for (const name of ['a.txt', 'b.txt']) await api.upload(other, { name, bytes: name });
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    let deletions = 0;
    const { token } = other.owner;
    await page.route('**/rpc/documents/delete', async (route) => {
      const body = { reason: 'A lawsuit.' };
      if (++deletions === 2) await expectOk(api.request('PUT', `/api/v1/organizations/${other.organizationId}/hold`, { token, body }));
      await route.continue();
    });
    await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('A lawsuit.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('group', { name: '1 selected' }).waitFor();
    expect(await page.getByRole('row', { name: /[ab]\.txt/ }).count()).to.equal(1);
  });

  it('deletes more of them than the limit of requests allows at once, and waits meanwhile', async () => {
    const other = await api.createTenant();
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await api.upload(other, { name, bytes: name });
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    let deletions = 0;
    const refusal = { defined: true, code: 'TOO_MANY_REQUESTS', status: 429, message: 'Too many requests: try again later.' };
    await page.route('**/rpc/documents/delete', (route) =>
      // Longer than the page waits elsewhere.
      ++deletions === 2 ? route.fulfill({ status: 429, headers: { 'retry-after': '6' }, json: { json: refusal } }) : route.continue(),
    );
    await page.getByRole('group', { name: '3 selected' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No documents yet').waitFor();
    expect(deletions).to.equal(4);
  });

  it('deletes those that are selected, says how many before, and keeps the others', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await api.upload(tenant, { name, bytes: name });
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    for (const name of ['a.txt', 'c.txt']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    const bar = page.getByRole('group', { name: '2 selected' });
    await bar.getByRole('button', { name: 'Delete' }).click();
    // Another is gone before it is confirmed: what was wanted has happened.
    const { body } = await api.request('GET', listPath(tenant), { token: tenant.owner.token });
    const gone = body.items.find(({ name }: { name: string }) => name === 'a.txt').id;
    await api.request('DELETE', `/api/v1/documents/${gone}`, { token: tenant.owner.token });
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Delete 2 documents?').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /c\.txt/ }).waitFor({ state: 'detached' });
    expect(await page.getByRole('row', { name: /[ab]\.txt/ }).count()).to.equal(1);
    expect(await bar.count()).to.equal(0);
  });

  it('is sorted by its heads, with the mouse or the keyboard, and by the address', async () => {
    const other = await api.createTenant();
    for (const [name, bytes] of [
      ['b.txt', '22'],
      ['Ärger.txt', '333'],
      ['c.txt', '1'],
    ] as const)
      await api.upload(other, { name, bytes });
    const { page, complaints } = await open(pathOf(other, 'documents'), { as: other.owner });
    const shows = (names: string) => until(async () => (await page.locator('tbody .row-name').allTextContents()).join(' ') === names);
    const sorted = () => page.locator('th[aria-sort]').evaluateAll((heads) => heads.map((head) => `${head.textContent} ${head.ariaSort}`));
    await shows('c.txt Ärger.txt b.txt');
    expect(await sorted()).to.deep.equal(['Added descending']);
    await page.getByRole('button', { name: 'Size' }).click();
    await shows('Ärger.txt b.txt c.txt');
    const name = page.getByRole('button', { name: 'Name', exact: true });
    await name.focus();
    for (const [names, direction] of [
      ['Ärger.txt b.txt c.txt', 'ascending'],
      ['c.txt b.txt Ärger.txt', 'descending'],
    ] as const) {
      await page.keyboard.press('Enter');
      await until(async () => (await sorted()).join() === `Name ${direction}`);
      await shows(names);
      // The head is not drawn anew, which would lose the focus.
      expect(await page.evaluate('document.activeElement.textContent')).to.equal('Name');
    }
    expect(new URL(page.url()).search).to.equal('?sort=-name');
    await page.setViewportSize({ width: 390, height: 800 });
    await page.reload();
    await shows('c.txt b.txt Ärger.txt');
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Added' }).click();
    await shows('c.txt Ärger.txt b.txt');
    expect(new URL(page.url()).search).to.equal('');
    expect(complaints).to.deep.equal([]);
  });

  it('is narrowed by a part of the name while it is typed, and by the address', async () => {
    const other = await api.createTenant();
    for (const name of ['Report 2025.txt', 'Ärger.txt', 'report 2026.txt']) await api.upload(other, { name, bytes: name });
    const { page, complaints } = await open(pathOf(other, 'documents'), { as: other.owner });
    const shows = (names: string) => until(async () => (await page.locator('tbody .row-name').allTextContents()).join(' ') === names);
    await shows('report 2026.txt Ärger.txt Report 2025.txt');
    const field = page.getByLabel('Name contains');
    await field.pressSequentially('REP');
    await shows('report 2026.txt Report 2025.txt');
    await field.pressSequentially('ort 2025');
    await shows('Report 2025.txt');
    expect(await field.inputValue()).to.equal('REPort 2025');
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await page.reload();
    await shows('Report 2025.txt');
    await field.fill('2026');
    await shows('report 2026.txt');
    await page.reload();
    await shows('report 2026.txt');
    await field.fill('nothing has this');
    await page.getByText('No document meets the filters.').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Documents' }).click();
    await shows('report 2026.txt Ärger.txt Report 2025.txt');
    expect(await field.inputValue()).to.equal('');
    expect(complaints).to.deep.equal([]);
  });

  it('has rows of 40 px, and shortens a long name in its middle', async () => {
    const name = `${'a long beginning '.repeat(8)}and the end.txt`;
    await api.upload(tenant, { name, bytes: 'Long.' });
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    const link = page.getByRole('link', { name, exact: true });
    await link.waitFor();
    const box = await page.getByRole('row').filter({ has: link }).boundingBox();
    expect(box?.height).to.be.within(40, 41);
    const end = await link.locator('.keep').boundingBox();
    const cell = await page.getByRole('cell').filter({ has: link }).boundingBox();
    expect((end?.x ?? 0) + (end?.width ?? 0)).to.be.at.most((cell?.x ?? 0) + (cell?.width ?? 0));
    expect(await link.locator('.keep').textContent()).to.equal(' and the end.txt');

    // A space before the end is seen, too.
    const other = 'Overview of all foxes (finally) v2.txt';
    await api.upload(tenant, { name: other, bytes: 'Foxes.' });
    await page.reload();
    await page.getByRole('link', { name: other, exact: true }).waitFor();
    expect(await page.evaluate(gapIn(other))).to.be.above(2);

    // Whoever wants more of them at once chooses lower ones, which stay.
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Use low rows' }).click();
    await page.reload();
    await link.waitFor();
    expect((await page.getByRole('row').filter({ has: link }).boundingBox())?.height).to.be.within(32, 33);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Use high rows' }).waitFor();
  });

  it('gets a new version from its page, which lists what it was before, under its name', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { name: 'rota.txt', bytes: 'The night watch begins at nine.' });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } });
    await api.jobIn(token, body.id, ['succeeded']);
    const { page, complaints } = await open(pathOf(tenant, `documents/${documentId}`), { as: tenant.owner });
    await page.getByText('The night watch begins at nine.').waitFor();
    expect(await page.getByRole('region', { name: 'Versions' }).count()).to.equal(0);
    const chosen = page.waitForEvent('filechooser');
    await act(page, 'rota.txt', 'Upload a new version');
    const file = { name: 'rota (2).txt', mimeType: 'text/plain', buffer: Buffer.from('The night watch begins at ten.') };
    await (await chosen).setFiles(file);
    await page.getByText('The night watch begins at ten.').waitFor();
    await page.getByRole('heading', { name: 'rota.txt' }).waitFor();
    const versions = page.getByRole('region', { name: 'Versions' });
    await versions.getByRole('row', { name: /^1 31 B/ }).waitFor();
    await versions.getByRole('row', { name: /^2 30 B/ }).waitFor();
    for (const [confidence, said] of [
      [[100], '99%'],
      [[92, null, 81], '81%'],
    ] as const) {
      await api.database.db
        .updateTable('document')
        .set({ extracted_ocr_confidence: [...confidence] })
        .where('id', '=', documentId)
        .execute();
      await page.reload();
      await page.getByText(`text recognition at least ${said} sure`).waitFor();
    }
    expect(await violationsOf(page)).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it('says that a job is queued only until it has ended', async () => {
    const { id: documentId } = await api.upload(tenant, { name: 'queue.txt', bytes: 'The queue.' });
    const { page } = await open(pathOf(tenant, `documents/${documentId}`), { as: tenant.owner });
    await page.getByRole('button', { name: 'Make searchable' }).click();
    await page.getByText('Searchable', { exact: true }).waitFor();
    await page.getByText('The job is queued.').waitFor({ state: 'detached' });
  });

  it('says of a document whose file has not arrived that it is to be sent again', async () => {
    const body = { workspaceId: tenant.workspaceId, name: 'left-open.txt', contentType: 'text/plain', size: 9 };
    const { document } = (await expectOk(api.request('POST', '/api/v1/documents', { token: tenant.owner.token, body }))).body;
    const { page } = await open(pathOf(tenant, `documents/${document.id}`), { as: tenant.owner });
    await page
      .getByText('The file has not arrived yet. If its upload was interrupted, delete this document and upload the file again.')
      .waitFor();
  });

  it('says which document could not be read, and why; so does its page', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { name: 'broken.pdf', contentType: 'application/pdf', bytes: 'This is no PDF.' });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } });
    const { error } = await api.jobIn(token, body.id, ['failed']);
    const more = `${error.message} ${'It is told in whole. '.repeat(3)}`.trim();
    await api.database.db.updateTable('job').set({ error_message: more }).where('id', '=', body.id).execute();
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    const row = page.getByRole('row', { name: /broken\.pdf/ });
    await row.getByText('Failed').waitFor();
    const reason = row.getByText(more);
    await reason.waitFor();
    expect(await reason.evaluate((shown) => shown.scrollHeight - shown.clientHeight)).to.be.at.most(0);
    await row.getByRole('link', { name: 'broken.pdf' }).click();
    const alert = page.getByRole('alert').filter({ hasText: '“Make searchable” failed' });
    await alert.getByText(error.message).waitFor();
    // Its jobs stand on it, with what each took and cost: nothing, for it failed.
    const jobs = page.getByRole('region', { name: 'Jobs of this document' });
    await jobs.getByRole('row', { name: /^Make searchable .* Failed [\d.]+ sec 0 / }).waitFor();
    await jobs.getByText(error.message).waitFor();
    // What cannot work is not offered, and nobody is told to try it.
    await page.getByText('There is no text: reading it has failed.').waitFor();
    await page.getByRole('button', { name: 'Actions for broken.pdf' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
    expect(await page.getByRole('menuitem').allTextContents()).to.deep.equal(['Upload a new version', 'Rename', 'Delete']);
    expect(await page.getByRole('button', { name: 'Make searchable' }).count()).to.equal(0);
    await page.keyboard.press('Escape');

    // In the list of jobs the reason stands below the name, and not below the box before it.
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    const job = page.getByRole('row', { name: /broken\.pdf/ });
    await job.getByText(error.message).waitFor();
    const left = await page.evaluate(
      "(() => { const range = document.createRange(); range.selectNodeContents(document.querySelector('.below-line')); return range.getBoundingClientRect().x; })()",
    );
    expect(left).to.be.closeTo((await job.getByRole('link', { name: 'Make searchable' }).boundingBox())?.x ?? 0, 1);
    // What was given back is in neither sum.
    await page.getByRole('link', { name: 'Usage' }).click();
    const used = await page.locator('.amount').first().textContent();
    await page.getByRole('img', { name: `Credits by day and kind: ${used} in all` }).waitFor();
  });

  describe('The labels of documents in the console', () => {
    let tenant: Tenant;
    before(async () => {
      tenant = await api.createTenant();
      const { token } = tenant.owner;
      for (const [name, bytes] of [
        ['spring.txt', 'The mirrors are washed in spring.'],
        ['autumn.txt', 'The mirrors are covered in autumn.'],
      ] as const) {
        const { id } = await api.upload(tenant, { name, bytes });
        const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId: id } });
        await api.jobIn(token, body.id, ['succeeded']);
      }
    });

    it('are given to a document, and narrow the list and searches, by the address too', async () => {
      const { page, complaints } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
      await page.getByRole('link', { name: 'spring.txt' }).click();
      await page.getByRole('button', { name: 'Edit labels' }).click();
      const dialog = page.getByRole('dialog');
      for (const label of ['care, yearly', '2026']) {
        await dialog.getByLabel('Labels', { exact: true }).fill(label);
        await dialog.getByLabel('Labels', { exact: true }).press('Enter');
      }
      // What is not JSON is said, and nothing that was typed is lost.
      await dialog.getByLabel('Metadata').fill('{ "year": ');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('The metadata is not JSON.').waitFor();
      await dialog.getByLabel('Metadata').fill('{ "year": 2026 }');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Metadata', { exact: true }).click();
      await page.getByText('"year": 2026').waitFor();

      await page.getByRole('link', { name: 'care, yearly' }).click();
      await page.getByRole('row', { name: /spring\.txt.*care, yearly/ }).waitFor();
      await page.getByRole('link', { name: 'autumn.txt' }).waitFor({ state: 'detached' });
      expect(decodeURIComponent(new URL(page.url()).search)).to.equal('?tags=["care,+yearly"]');
      await page.reload();
      await page.getByLabel('Kind of file').selectOption('PDF');
      await page.getByText('No document meets the filters.').waitFor();
      await page.getByLabel('Kind of file').selectOption('TXT');
      await page.getByRole('row', { name: /spring\.txt/ }).waitFor();
      expect(await page.getByRole('row').count()).to.equal(2);

      await page.goto(`${api.url}${pathOf(tenant, 'search')}?q=mirrors`);
      await until(async () => (await page.getByRole('listitem').count()) === 2);
      await page.getByRole('combobox', { name: 'Only documents with these labels' }).fill('2026');
      await page.getByRole('combobox', { name: 'Only documents with these labels' }).press('Enter');
      await until(async () => (await page.getByRole('main').getByRole('link').count()) === 1);
      await page.reload();
      await page.getByRole('link', { name: 'Open passage 1: spring.txt' }).waitFor();
      expect(complaints).to.deep.equal([]);
    });

    it('are added to those that are selected, which keep theirs and are made searchable', async () => {
      const { token } = tenant.owner;
      await api.upload(tenant, { name: 'winter.txt', bytes: 'The mirrors are stored in winter.' });
      const kept = await api.upload(tenant, { name: 'summer.txt', bytes: 'The mirrors are used in summer.' });
      await expectOk(api.request('PATCH', `/api/v1/documents/${kept.id}`, { token, body: { tags: ['outdoors'] } }));
      const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
      const dialog = page.getByRole('dialog');
      for (const name of ['winter.txt', 'summer.txt', 'autumn.txt']) await page.getByLabel(`Select ${name}`).check();
      await page.getByRole('button', { name: 'Add labels' }).click();
      await dialog.getByRole('heading', { name: 'Add labels to 3 documents' }).waitFor();
      await dialog.getByLabel('Labels', { exact: true }).fill('mirrors');
      await dialog.getByLabel('Labels', { exact: true }).press('Enter');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('row', { name: /summer\.txt.*outdoors.*mirrors/ }).waitFor();
      await page.getByRole('row', { name: /winter\.txt.*mirrors/ }).waitFor();

      // One of the three is searchable already.
      await page.getByRole('button', { name: 'Make searchable' }).click();
      await dialog.getByRole('heading', { name: 'Make 2 documents searchable' }).waitFor();
      await dialog.getByRole('button', { name: 'Make searchable' }).click();
      await page.getByText('3 selected').waitFor({ state: 'detached' });
      for (const name of [/summer\.txt/, /winter\.txt/]) await page.getByRole('row', { name }).getByText('Searchable').waitFor();
    });

    it('stand beside what the numbers of a search mean', async () => {
      const { page } = await open(pathOf(tenant, 'search?q=mirrors'), { as: tenant.owner });
      const first = page.getByRole('listitem').first();
      await first.getByText(/^similarity [\d.]+ · words [\d.]+$/).click();
      for (const meaning of [/^Place 1 of both lists/, /^Similarity [\d.]+: how near/, /^Words [\d.]+: how much/])
        await first.getByText(meaning).waitFor();
      await page.getByText('Words', { exact: true }).click();
      await first.getByText(/^words [\d.]+$/).click();
      await first.getByText(/^Place 1 by words/).waitFor();
      expect(await first.getByText(/^Similarity/).count()).to.equal(0);
    });
  });

  describe('The text of a document in the console', () => {
    let tenant: Tenant;
    before(async () => {
      tenant = await api.createTenant();
    });

    async function read(name: string, contentType: string, bytes: string | Buffer): Promise<string> {
      const { id } = await api.upload(tenant, { name, contentType, bytes });
      const { token } = tenant.owner;
      const { body: job } = await expectOk(
        api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId: id } }),
      );
      await api.jobIn(token, job.id, ['succeeded']);
      return id;
    }

    it('shows Markdown as headings, lists and tables, runs and loads nothing of it, and marks a passage as it stands there', async () => {
      const id = await read('bees.md', 'text/markdown', text);
      const { page, complaints } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner });
      const asked: string[] = [];
      page.on('request', (request) => void asked.push(request.url()));
      const shown = page.getByRole('region', { name: 'Text' });
      await shown.getByRole('heading', { name: 'Bees', level: 3 }).waitFor();
      expect(await shown.locator('strong').allTextContents()).to.deep.equal(['warm']);
      await shown.getByRole('columnheader', { name: 'Month' }).waitFor();
      await shown.getByRole('cell', { name: '<img src=x' }).waitFor();
      await shown.getByText('<script>window.hacked=3</script>').waitFor();
      expect(await shown.getByRole('listitem').count()).to.equal(2);
      expect(await shown.locator('a, img, script').count()).to.equal(0);
      expect(await page.evaluate('window.hacked')).to.equal(undefined);
      expect(await violationsOf(page)).to.deep.equal([]);

      const start = text.indexOf('mirrors');
      await page.goto(`${api.url}${pathOf(tenant, `documents/${id}`)}?start=${start}&end=${start + 7}`);
      await shown.getByRole('heading', { name: 'Bees' }).waitFor();
      expect(await shown.locator('mark').allTextContents()).to.deep.equal(['mirrors']);
      expect(asked.filter((url) => !url.startsWith(api.url))).to.deep.equal([]);
      expect(complaints).to.deep.equal([]);
    });

    it('shows the rows of a table as a table, and marks what a passage reaches into', async () => {
      const html = '<p>Before.</p><table><tr><th>Seed</th><th>Grams</th></tr><tr><td>Flax</td><td>12</td></tr></table><p>After.</p>';
      const id = await read('seeds.html', 'text/html', html);
      const { page } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner, viewport: { width: 390, height: 800 } });
      const shown = page.getByRole('region', { name: 'Text' });
      await shown.getByRole('row', { name: 'Flax 12' }).waitFor();
      await shown.getByRole('columnheader', { name: 'Grams' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
      const { text: whole } = (await expectOk(api.request('GET', `/api/v1/documents/${id}/text`, { token: tenant.owner.token }))).body;
      const [start, end] = [whole.indexOf('Flax'), whole.indexOf('After') + 5];
      await page.goto(`${api.url}${pathOf(tenant, `documents/${id}`)}?start=${start}&end=${end}`);
      await shown.locator('mark').first().waitFor();
      expect(await shown.locator('mark').allTextContents()).to.deep.equal(['Flax', '12', 'After']);

      // So does a search.
      const { body } = await api.request('POST', '/api/v1/jobs', {
        token: tenant.owner.token,
        body: { kind: 'document.index', documentId: id },
      });
      await api.jobIn(tenant.owner.token, body.id, ['succeeded']);
      await page.goto(`${api.url}${pathOf(tenant, 'search')}?q=flax&mode=lexical`);
      const found = page.getByRole('listitem').filter({ hasText: 'seeds.html' });
      await found.getByRole('row', { name: 'Flax 12' }).waitFor();
      expect(await found.locator('mark').allTextContents()).to.deep.equal(['Flax', '12']);
      expect(await violationsOf(page)).to.deep.equal([]);
    });

    it('shows CSV as a table, whatever parts its cells, and marks the rows of a passage', async () => {
      const csv = 'Seed;Grams;Remarks\nFlax;12;"sow; not too ""deep"""\n\nGentian;3;"six weeks\nof cold"\n';
      const id = await read('seeds.csv', 'text/csv', csv);
      const start = csv.indexOf('Gentian');
      const search = `?start=${start}&end=${start + 7}`;
      const { page } = await open(pathOf(tenant, `documents/${id}${search}`), { as: tenant.owner, viewport: { width: 390, height: 800 } });
      const shown = page.getByRole('region', { name: 'Text' });
      await shown.getByRole('row', { name: 'Flax 12 sow; not too "deep"' }).waitFor();
      expect(await shown.getByRole('row').count()).to.equal(3);
      expect(await shown.locator('mark').allTextContents()).to.deep.equal(['Gentian', '3', 'six weeks\nof cold']);
      expect(await violationsOf(page)).to.deep.equal([]);
    });

    it('lets the paragraphs of a PDF flow, shows its headings, and marks a passage across the ends of its lines', async () => {
      const lines = [
        'The dome is opened at dusk, unless the wind is too',
        'strong or the air too damp for the mirrors, and is',
        'closed at dawn.',
      ];
      const drawn = [[760, 26, 'Opening the dome'], ...lines.map((line, index) => [700 - 22 * index, 20, line])];
      const bytes = makePdf(drawn.map(([y, size, line]) => `BT /F1 ${size} Tf 50 ${y} Td (${line}) Tj ET`).join('\n'));
      const id = await read('dome.pdf', 'application/pdf', bytes);
      const { text: whole } = (await expectOk(api.request('GET', `/api/v1/documents/${id}/text`, { token: tenant.owner.token }))).body;
      expect(whole).to.equal(`Opening the dome\n\n${lines.join('\n')}`);
      const start = whole.indexOf('too');
      const { page } = await open(pathOf(tenant, `documents/${id}?page=1&start=${start}&end=${start + 10}`), { as: tenant.owner });
      const shown = page.getByRole('region', { name: 'Text' });
      await shown.locator('mark').waitFor();
      expect(await shown.locator('mark').textContent()).to.equal('too strong');
      expect(await shown.locator('strong').allTextContents()).to.deep.equal(['Opening the dome']);
      expect(await shown.textContent()).to.equal(`Opening the dome\n\n${lines.join(' ')}`);
    });
  });
});

const listPath = ({ workspaceId, organizationId }: Tenant) =>
  `/api/v1/workspaces/${workspaceId}/documents?organizationId=${organizationId}`;

/** How many pixels are between the last letter of the beginning of a shortened name and its end. */
const gapIn = (name: string) => `(() => {
  const [{ firstChild: text }, end] = document.querySelectorAll('[title=${JSON.stringify(name)}] > span');
  const letter = document.createRange();
  letter.setStart(text, text.length - 2);
  letter.setEnd(text, text.length - 1);
  return end.getBoundingClientRect().left - letter.getBoundingClientRect().right;
})()`;
