import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { expect } from 'chai';
import { type AiService, startAiService } from './support/ai-service.ts';

const types: Record<string, string> = {
  '.pdf': 'application/pdf',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.csv': 'text/csv',
  '.txt': 'text/plain',
};
const chunkLength = 1200;
const overlap = 150;

interface Query {
  query: string;
  document: string;
  contains: string;
}

interface Passage {
  document: string;
  text: string;
  vector: number[];
}

const queries: Query[] = JSON.parse(readFileSync('samples/queries.json', 'utf8'));

describe('searching the samples', () => {
  let service: AiService;
  let passages: Passage[];
  before(async () => {
    service = await startAiService();
    passages = (await Promise.all([...new Set(queries.map(({ document }) => document))].map(indexDocument))).flat();
  });
  after(() => service.stop());

  async function indexDocument(document: string): Promise<Passage[]> {
    const { text } = await service.client.extract({
      body: readFileSync(`samples/${document}`),
      contentType: types[extname(document)] ?? '',
    });
    const chunks = split(text);
    const { vectors } = await service.client.embed({ texts: chunks });
    return chunks.map((chunk, index) => ({ document, text: chunk.replace(/\s+/g, ' '), vector: vectors[index] ?? [] }));
  }

  it('has queries for five documents', () => {
    expect(queries.length).to.be.at.least(10);
    expect(new Set(passages.map(({ document }) => document)).size).to.equal(5);
  });

  for (const { query, document, contains } of queries) {
    it(`finds “${query}”`, async () => {
      const { vectors } = await service.client.embed({ texts: [query] });
      const score = ({ vector }: Passage) => vector.reduce((sum, value, index) => sum + value * (vectors[0]?.[index] ?? 0), 0);
      const [best] = passages.toSorted((a, b) => score(b) - score(a));
      expect(best?.document).to.equal(document);
      expect(best?.text).to.contain(contains);
    });
  }
});

/** Chunks of at most 1,200 characters that overlap by 150 and end after a word. */
function split(text: string): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.length - start <= chunkLength ? text.length : text.lastIndexOf(' ', start + chunkLength);
    chunks.push(text.slice(start, end));
    if (end === text.length) break;
    start = end - overlap;
  }
  return chunks;
}
