import { expect } from 'chai';
import { chunkSize, maxChunks } from '../../domain/chunking/chunking.ts';
import { amountsOf, createJob } from '../support/jobs.ts';
import { useApi } from '../support/use-api.ts';

/** Text without a boundary, so that each chunk but the last has its full size. */
const textOfChunks = (chunks: number) => 'x'.repeat((chunks - 1) * (chunkSize.characters - chunkSize.overlap) + chunkSize.characters);

describe('The size of what is indexed', () => {
  const { api, ai, tenant } = useApi({ ai: true, check: 'at the end' });

  /** Indexes a document whose extracted text is the given one. */
  async function index(text: string): Promise<any> {
    ai.behave('extract', () => ({
      body: { text, characters: text.length, pages: 7, truncated: false, content_type: 'text/plain' },
    }));
    const { id: documentId } = await api.upload(tenant, { bytes: 'whatever' });
    const { id } = await createJob(api, tenant, { kind: 'document.index', documentId });
    return api.jobIn(tenant.owner.token, id, ['succeeded', 'failed']);
  }

  const chunksOf = (documentId: string) =>
    api.database.db
      .selectFrom('chunk')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('document_id', '=', documentId)
      .executeTakeFirstOrThrow();
  const documentOf = async (id: string) => (await api.request('GET', `/api/v1/documents/${id}`, { token: tenant.owner.token })).body;

  it(`may reach ${maxChunks} chunks, embedded 32 at a time`, async () => {
    const text = textOfChunks(maxChunks);
    const job = await index(text);
    expect(job.result).to.deep.equal({ chunks: maxChunks, characters: text.length, model: 'fake', dimensions: 2 });
    expect(await chunksOf(job.documentId)).to.deep.equal({ count: maxChunks });
    const batches = ai.calls.filter(({ operation }) => operation === 'embed').map(({ body }) => body.texts.length);
    expect(batches).to.have.lengthOf(Math.ceil(maxChunks / 32));
    expect(Math.max(...batches)).to.equal(32);
    expect(await documentOf(job.documentId)).to.include({ chunkCount: maxChunks });
  });

  it('may not pass it: the job fails at once, stores nothing and is refunded', async () => {
    const job = await index(textOfChunks(maxChunks + 1));
    expect(job).to.include({ status: 'failed', attempts: 1 });
    expect(job.error).to.deep.equal({
      code: 'too_many_chunks',
      message: 'The document has more than 2000 chunks and cannot be indexed.',
    });
    expect(await chunksOf(job.documentId)).to.deep.equal({ count: 0 });
    expect(await documentOf(job.documentId)).to.include({ indexedAt: null, chunkCount: null, extracted: null });
    expect(await amountsOf(api, job.id)).to.deep.equal([2, -2]);
  });

  for (const [what, text] of Object.entries({ nothing: '', 'white space only': ' \n\t \n ' })) {
    it(`may be ${what}: no chunks, and the document counts as indexed`, async () => {
      const job = await index(text);
      expect(job.result).to.deep.equal({ chunks: 0, characters: text.length, model: 'fake', dimensions: 2 });
      expect(ai.calls.filter(({ requestId, operation }) => requestId === job.id && operation === 'embed')).to.have.lengthOf(1);
      const document = await documentOf(job.documentId);
      expect(document).to.include({ chunkCount: 0 });
      expect(document.indexedAt).to.be.a('string');
      expect(document.extracted).to.include({ characters: text.length, pages: 7 });
    });
  }

  it('takes vectors whose length a real cannot hold', async () => {
    ai.behave('embed', (call) => ({
      body: { model: 'fake', dimensions: 3, vectors: call.body.texts.map(() => [1e-45, 3e38, -1e-45]) },
    }));
    const job = await index('Some text.');
    ai.behave('embed');
    expect(job).to.include({ status: 'succeeded' });
    const chunk = await api.database.db
      .selectFrom('chunk')
      .select('embedding')
      .where('document_id', '=', job.documentId)
      .executeTakeFirstOrThrow();
    expect(chunk.embedding).to.deep.equal([0, 1, -0]);
  });
});

describe('A document without text', () => {
  // The real AI service reads it.
  const { api, tenant } = useApi({ check: 'at the end' });

  it('is extracted and indexed; a summary fails finally and says why', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { bytes: ' \n\n ' });
    const run = async (kind: string) => {
      const { id } = await createJob(api, tenant, { kind, documentId });
      return api.jobIn(token, id, ['succeeded', 'failed']);
    };
    expect((await run('document.extract')).result).to.include({ pages: null, truncated: false });
    expect((await run('document.index')).result).to.include({ chunks: 0, model: 'local-hash-256', dimensions: 256 });
    const summary = await run('document.summarize');
    expect(summary).to.include({ status: 'failed', attempts: 1 });
    expect(summary.error).to.deep.equal({ code: 'no_text', message: 'The document has no text to summarize.' });
    expect(await amountsOf(api, summary.id)).to.deep.equal([5, -5]);
  });
});
