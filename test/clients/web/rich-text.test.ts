import { expect } from 'chai';
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

  async function read(name: string, contentType: string, bytes: string): Promise<string> {
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

  it('shows the rows of a table as a table, and a passage that reaches into it as it stands there', async () => {
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
    await shown.locator('mark').waitFor();
    expect(await shown.locator('mark').allTextContents()).to.deep.equal([whole.slice(start, end)]);
  });
});
