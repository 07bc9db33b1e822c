import { expect } from 'chai';
import { answerQuestion } from '../../ai/answers/rank-units.ts';
import { toUnits } from '../../domain/answers/to-answer.ts';
import { cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { plainBm25 } from '../lab/bench/baselines/plain-bm25.ts';
import { passageOf } from '../support/answer-passages.ts';
import { makeLongDocuments } from './support/long-documents.ts';

const documents = makeLongDocuments();
const chunks = documents.flatMap(({ name, text, pages }) =>
  cutChunks(text, { characters: text.length, pages, headings: [] }).map(({ text: part }, index) => ({
    id: `${name} ${index}`,
    text: part,
  })),
);
const byId = new Map(chunks.map((chunk) => [chunk.id, chunk.text]));
const search = plainBm25(chunks);
const questions = documents.flatMap(({ name, facts }) => facts.map((fact) => ({ ...fact, name })));

describe('answers to 60 questions about four documents of 24 pages', () => {
  it('begin with the sentence that holds the answer nearly as often as the search finds it', () => {
    expect(questions).to.have.length(60);
    for (const { pages, text } of documents) expect([pages.length, text.length > 40_000]).to.deep.equal([24, true]);
    let [found, cited] = [0, 0];
    for (const { question, answer, name } of questions) {
      const ids = search(question, 10);
      const holds = (text: string) => new RegExp(`\\b${answer}\\b`).test(text);
      const passages = ids.map((id) => toUnits(passageOf(byId.get(id) ?? '', { name: id.replace(/ \d+$/, '') })));
      const units = passages.flatMap((passage, index) => passage.units.map(({ text }) => ({ text, id: ids[index] ?? '' })));
      const [first] = answerQuestion({ question, before: null, draft: false, embedModel: null, passages, maxSentences: 5 });
      const unit = units[(first?.units[0] ?? 0) - 1];
      if (ids.some((id) => id.startsWith(name) && holds(byId.get(id) ?? ''))) found += 1;
      if (unit?.id.startsWith(name) && holds(unit.text)) cited += 1;
    }
    console.log({ found, cited });
    expect(found).to.be.at.least(57);
    expect(cited).to.be.at.least(55);
  });
});
