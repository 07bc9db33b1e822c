import { expect } from 'chai';
import { splitText } from '../../domain/chunking/split-text.ts';
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

  it('is embedded up to its limit', async () => {
    const job = { kind: 'text.embed', organizationId: tenant.organizationId };
    const done = await run({ ...job, texts: Array(16).fill(wave.repeat(8_000)), maxAttempts: 1 });
    expect([done.status, done.error]).to.deep.equal(['succeeded', null]);
    expect(done.result.vectors).to.have.length(16);
    expect(await refused({ ...job, texts: [wave.repeat(8_001)] })).to.equal(400);
  });

  it('is extracted up to its limit, indexed whole and found', async () => {
    const bytes = `${`Waves ${wave.repeat(60)} `.repeat(3000)}end`;
    const { id: documentId } = await api.upload(tenant, { bytes });
    expect((await run({ kind: 'document.extract', documentId })).result).to.deep.equal({
      characters: 200_000,
      pages: null,
      truncated: true,
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

  it('is cut into chunks as one of other characters is, and loses none of them', () => {
    const plain = Array.from({ length: 4_000 }, (_, index) => (index % 97 === 0 ? ' ' : 'x')).join('');
    for (const text of [plain, 'x'.repeat(4_000), `${'x'.repeat(1_199)}yz${'x'.repeat(900)}`]) {
      const chunks = splitText(text.replaceAll(/[xyz]/g, wave)).map((chunk) => chunk.text);
      expect(chunks).to.deep.equal(splitText(text).map((chunk) => chunk.text.replaceAll(/[xyz]/g, wave)));
      expect(chunks.every((chunk) => chunk.isWellFormed() && [...chunk].length <= 1_200)).to.equal(true);
    }
  });
});
