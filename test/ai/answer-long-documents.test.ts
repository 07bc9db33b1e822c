import { expect } from 'chai';
import { answerQuestion } from '../../ai/answer/answer-question.ts';
import { proveSentence, type QuotedPassage } from '../../domain/answers/prove-sentence.ts';
import { cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { plainBm25 } from '../../tools/bench/baselines/plain-bm25.ts';
import { makeLongDocuments } from './support/long-documents.ts';

const documents = makeLongDocuments();
const chunks = documents.flatMap(({ name, text, pages }) =>
  cutChunks(text, { characters: text.length, pages, headings: [] }).map(({ text: part, position }, index) => ({
    ...{ id: `${name} ${index}`, title: name, page: position.page, heading: null, text: part, start: position.start },
  })),
);
const byId = new Map(chunks.map((chunk) => [chunk.id, chunk]));
const sources = new Map(chunks.map(({ id, text, start }): [string, QuotedPassage] => [id, { text, start, recognized: false, labels: [] }]));
const search = plainBm25(chunks);
const questions = documents.flatMap(({ name, facts }) => facts.map((fact) => ({ ...fact, name })));

/** The stub of a model that ranks: by the share of the question's words that a passage has. It only shows that the order is kept. */
function rerank(question: string, ids: string[]): string[] {
  const words = [...new Set(question.toLowerCase().match(/\p{L}{4,}/gu) ?? [])];
  const share = (id: string) => words.filter((word) => byId.get(id)?.text.toLowerCase().includes(word)).length;
  return ids.toSorted((one, other) => share(other) - share(one));
}

/** The stub of a chat model: it copies the sentence that has most words of the question. */
function copying(question: string, ids: string[]) {
  const words = [...new Set(question.toLowerCase().match(/\p{L}{4,}/gu) ?? [])];
  const share = (text: string) => words.filter((word) => text.toLowerCase().includes(word)).length;
  const sentences = ids.flatMap((id) => (byId.get(id)?.text.match(/[^.\n]+\./g) ?? []).map((text) => ({ id, text: text.trim() })));
  const [best] = sentences.toSorted((one, other) => share(other.text) - share(one.text));
  return best ? [{ text: best.text, citations: [{ passage: best.id, quote: best.text }] }] : [];
}

type Writer = (question: string, ids: string[]) => { text: string; citations: { passage: string; quote: string }[] }[];

const offline: Writer = (question, ids) =>
  answerQuestion({ question, maxSentences: 5, passages: ids.flatMap((id) => byId.get(id) ?? []) }).sentences;

/** Of how many questions a passage that was found holds the answer, and the first sentence that holds cites one. */
function measure(write: Writer, order: (question: string, ids: string[]) => string[]) {
  let [found, cited, withheld] = [0, 0, 0];
  for (const { question, answer, name } of questions) {
    const holds = (id: string) => id.startsWith(name) && new RegExp(`\\b${answer}\\b`).test(byId.get(id)?.text ?? '');
    const ids = order(question, search(question, 50)).slice(0, 10);
    const proofs = write(question, ids).map((sentence) => proveSentence(sentence, sources, question));
    withheld += proofs.filter((proof) => !proof.holds).length;
    const [first] = proofs.flatMap((proof) => (proof.holds ? proof.citations : []));
    if (ids.some(holds)) found += 1;
    if (first && holds(first.passage) && first.quote.includes(answer)) cited += 1;
  }
  return { found, cited, withheld };
}

describe('answers to 60 questions about four documents of 24 pages', () => {
  it('quote the passage that holds the answer nearly as often as the search finds it, before and after ranking anew', () => {
    expect(questions).to.have.length(60);
    for (const { pages, text } of documents) expect([pages.length, text.length > 40_000]).to.deep.equal([24, true]);
    const asFound = (_: string, ids: string[]) => ids;
    const figures = {
      offline: measure(offline, asFound),
      'offline, ranked anew': measure(offline, rerank),
      copying: measure(copying, asFound),
      'copying, ranked anew': measure(copying, rerank),
    };
    console.log(figures);
    for (const { found, withheld } of Object.values(figures))
      expect({ found: found >= 57, withheld }).to.deep.equal({ found: true, withheld: 0 });
    expect(figures.offline.cited).to.be.at.least(55);
    expect(figures['offline, ranked anew'].cited).to.be.at.least(53);
  });
});
