import { expect } from 'chai';
import { makePdf } from '../../ai/support/make-pdf.ts';
import { expectOk } from '../../support/requests.ts';
import { violationsOf } from './support/axe.ts';
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

describe('The text of a document in the console', () => {
  const { api, open, tenant } = useConsole();

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
