import { expect } from 'chai';
import { type AiService, startAiService, token } from '../../ai/support/ai-service.ts';
import { chat, type RemoteModel, startRemoteModel } from '../../ai/support/remote-model.ts';
import { until } from '../../support/processes.ts';
import { violationsOf } from './support/axe.ts';
import { pathOf, useConsole } from './support/use-console.ts';

const hostile = '<img src=x onerror="window.hacked=1">';
const text = `Harbour Supplies Ltd ${hostile}\nInvoice No. HS-2041\nDate of issue: 3 March 2026\n\nTotal due: 1,131.50 EUR\n`;
const said = [
  { path: '/number', value: 'HS-2041', passage: 1, quote: 'Invoice No. HS-2041' },
  { path: '/total', value: 1131.5, passage: 1, quote: 'Total due: 1,131.50 EUR' },
  { path: '/seller', value: hostile, passage: 1, quote: `Harbour Supplies Ltd ${hostile}` },
  { path: '/tax', value: 99, passage: 1, quote: 'A tax of 99 EUR' },
];

describe('The fields of a document in the console', () => {
  let remote: RemoteModel;
  let ai: AiService;
  const { api, open, tenant } = useConsole(async () => {
    remote = await startRemoteModel();
    ai = await startAiService({ REMOTE_AI_BASE_URL: remote.baseUrl, REMOTE_AI_KEY: 'key-of-the-remote' });
    return { AI_SERVICE_URL: ai.url, SERVICE_TOKEN: token, EXTRA_JOB_KINDS: 'document.extractFields' };
  });
  after(async () => {
    await ai.stop();
    await remote.stop();
  });

  it('are extracted by a schema that is chosen; each has its quote, and leads to it', async () => {
    remote.answer = () => chat(JSON.stringify({ fields: said }));
    const { id } = await api.upload(tenant, { name: 'invoice.txt', bytes: text });
    const { page, complaints } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner });
    const section = page.getByRole('region', { name: 'Fields' });
    await section.getByLabel('What it is').selectOption('Invoice');
    await section.getByRole('button', { name: 'Extract fields' }).click();
    await section.getByRole('row', { name: /^total 1131\.5 Total due: 1,131\.50 EUR 90%$/ }).waitFor();
    await section.getByRole('row', { name: /^tax not in the document/ }).waitFor();
    await section.getByText(/^1 value withheld.* · Read by gpt-4o-mini: compare each value with its quote$/).waitFor();
    await section.getByRole('row', { name: `seller ${hostile}` }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);

    const marked = page.getByRole('region', { name: 'Text' }).locator('mark');
    for (const [name, quote] of [
      ['number', /Invoice No\. HS-2041/],
      ['total', /^Total due: 1,131\.50 EUR$/],
    ] as const) {
      await section
        .getByRole('row', { name: new RegExp(`^${name} `) })
        .getByRole('link')
        .click();
      await marked.getByText(quote).waitFor();
    }
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
    expect(complaints).to.deep.equal([]);
    await page.setViewportSize({ width: 390, height: 800 });
    await until(async () => (await page.evaluate('document.documentElement.scrollWidth <= innerWidth')) === true);
  });

  it('say why they could not be extracted', async () => {
    remote.answer = () => ({ status: 400, body: { error: { message: 'This model reads no documents.' } } });
    const { id } = await api.upload(tenant, { name: 'letter.txt', bytes: text });
    const { page } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner });
    const section = page.getByRole('region', { name: 'Fields' });
    await section.getByLabel('What it is').selectOption('Letter');
    await section.getByRole('button', { name: 'Extract fields' }).click();
    await section.getByRole('alert').waitFor();
    expect(
      (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/jobs`, { token: tenant.owner.token })).body.items[0].input
        .schema,
    ).to.equal('letter');
  });
});
