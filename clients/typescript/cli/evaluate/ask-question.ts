import type { Client } from '../../index.ts';
import type { Question } from './questions.ts';
import type { Result } from './results.ts';

export const modes = ['semantic', 'lexical', 'hybrid'] as const;
export type Mode = (typeof modes)[number];

/** How many documents a search looks for: what is found later counts as not found. */
const deepest = 10;

interface Asking {
  client: Client;
  workspaceId: string;
  /** How passages of answers are found; undefined if no question is to be answered. */
  answers: Mode | undefined;
  signal: AbortSignal;
}

/** Asks a question in each way, one after the other. */
export async function askQuestion({ client, workspaceId, answers, signal }: Asking, asked: Question): Promise<Record<string, Result>> {
  const { question, documents, answer } = asked;
  const rankOf = (found: { documentId: string; documentName: string }[][]) => {
    const isExpected = ({ documentId: id, documentName: name }: { documentId: string; documentName: string }) =>
      documents.includes(id) || documents.includes(name.normalize());
    const at = found.findIndex((ones) => ones.some(isExpected));
    return at < 0 ? null : at + 1;
  };
  const results: Record<string, Result> = {};
  for (const mode of modes) {
    const search = { workspaceId, query: question, mode, limit: deepest, groupBy: 'document' as const };
    const found = await client.documents.search(search, { signal });
    // What a model of the service itself compares, or words, costs nothing.
    const credits = mode === 'lexical' || /^(local-|bm25$)/.test(found.model) ? 0 : 1;
    results[mode] = { rank: rankOf(found.results.map((one) => [one])), credits };
  }
  if (answers !== undefined) {
    const { sentences, credits } = await client.documents.ask({ workspaceId, question, mode: answers }, { signal });
    const said = plainly(sentences.map(({ text }) => text).join(' '));
    results.answers = {
      rank: rankOf(sentences.map(({ citations }) => citations)),
      answered: sentences.length > 0,
      ...(answer === undefined ? {} : { found: said.includes(plainly(answer)) }),
      credits,
    };
  }
  return results;
}

/** A text without what lines and capitals add to it. */
function plainly(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}
