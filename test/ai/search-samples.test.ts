import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { expect } from 'chai';
import { embedText } from '../../ai/embedding/embed-text.ts';
import { cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { read } from './support/read.ts';

const types: Record<string, string> = {
  '.pdf': 'application/pdf',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.csv': 'text/csv',
  '.txt': 'text/plain',
};

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

const queries: Query[] = JSON.parse(readFileSync('docs/examples/samples/queries.json', 'utf8'));

/** A shorter section tells of raw data as well. */
const secondOf = ['How long do raw data stay private?'];

describe('searching the samples', () => {
  let passages: Passage[];
  before(async () => {
    passages = (await Promise.all([...new Set(queries.map(({ document }) => document))].map(indexDocument))).flat();
  });

  async function indexDocument(document: string): Promise<Passage[]> {
    const contentType = types[extname(document)] ?? '';
    const { text, characters, outline } = await read(readFileSync(`docs/examples/samples/${document}`), contentType);
    const chunks = cutChunks(text, { characters, pages: outline.page_starts, headings: outline.headings }, { contentType });
    return chunks.map((chunk) => ({ document, text: chunk.text.replace(/\s+/g, ' '), vector: embedText(chunk.embedded) }));
  }

  it('has queries for five documents', () => {
    expect(queries.length).to.be.at.least(10);
    expect(new Set(passages.map(({ document }) => document)).size).to.equal(5);
  });

  /** Where the first passage is that has the answer, from 1. */
  function rankOf({ query, document, contains }: Query): number {
    const asked = embedText(query);
    const score = ({ vector }: Passage) => vector.reduce((sum, value, index) => sum + value * (asked[index] ?? 0), 0);
    const ranked = passages.toSorted((a, b) => score(b) - score(a));
    return 1 + ranked.findIndex((passage) => passage.document === document && passage.text.includes(contains));
  }

  it('finds what each asks for first', () => {
    for (const query of queries) expect(rankOf(query), query.query).to.equal(secondOf.includes(query.query) ? 2 : 1);
  });
});
