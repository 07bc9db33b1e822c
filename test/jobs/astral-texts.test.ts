import { expect } from 'chai';
import { useApi } from '../support/use-api.ts';

const wave = '🌊';

describe('A text of characters beyond the first 65,536', () => {
  const { api, tenant } = useApi();

  async function run(body: object): Promise<any> {
    const { token } = tenant.owner;
    const created = await api.request('POST', '/api/v1/jobs', { token, body });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    return await api.jobIn(token, created.body.id, ['succeeded', 'failed']);
  }
  const refused = async (body: object) => (await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body })).status;

  it('is summarized up to its limit', async () => {
    const job = { kind: 'text.summarize', organizationId: tenant.organizationId };
    const done = await run({ ...job, text: wave.repeat(200_000), maxAttempts: 1 });
    expect([done.status, done.error]).to.deep.equal(['succeeded', null]);
    expect(done.result.characters).to.equal(200_000);
    expect(await refused({ ...job, text: wave.repeat(200_001) })).to.equal(400);
  });

  it('is extracted up to its limit, indexed whole and found', async () => {
    const bytes = `${`Waves ${wave.repeat(60)} `.repeat(3000)}end`;
    const { id: documentId } = await api.upload(tenant, { bytes });
    expect((await run({ kind: 'document.extract', documentId })).result).to.deep.equal({
      characters: 200_000,
      pages: null,
      truncated: true,
      notices: [{ code: 'text_cut', text: 'The text was cut after 200000 characters: MAX_TEXT_CHARACTERS.' }],
    });
    const text: string = (await api.request('GET', `/api/v1/documents/${documentId}/text`, { token: tenant.owner.token })).body.text;
    expect(text).to.equal([...bytes].slice(0, 200_000).join(''));
    const indexed = await run({ kind: 'document.index', documentId });
    expect(indexed.result.characters).to.equal(200_000);
    const { rows } = await api.database.pool.query<{ text: string; length: number }>(
      'select text, char_length(text) as length from chunk where document_id = $1 order by index',
      [documentId],
    );
    expect(rows.every((chunk) => chunk.text.isWellFormed() && !chunk.text.includes('\ufffd'))).to.equal(true);
    expect(Math.max(...rows.map(({ length }) => Number(length)))).to.be.within(1_100, 1_200);
  });
});
