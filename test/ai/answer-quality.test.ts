import { expect } from 'chai';
import { answerQuestion } from '../../ai/answer/answer-question.ts';
import { type Proof, proveSentence } from '../../domain/answers/prove-sentence.ts';
import { plainBm25 } from '../../tools/bench/baselines/plain-bm25.ts';
import { fiveLanguages } from '../../tools/bench/collections/five-languages.ts';

const { documents, questions } = fiveLanguages;
const search = plainBm25(documents);
const passages = new Map(documents.map(({ id, text }) => [id, { id, title: 'text', page: null, heading: null, text }]));
const sources = new Map(documents.map(({ id, text }) => [id, { text, start: 0, recognized: false, labels: [] }]));

/** What no text of the samples says. */
const unanswerable = [
  'What is the capital of Mongolia?',
  'Who won the world cup in 1998?',
  'How do I reset my password?',
  'What is the boiling point of mercury?',
  'When was the treaty signed?',
  'Wie hoch ist der Eiffelturm?',
  'Wer hat den Vertrag unterschrieben?',
  'Quel est le prix du billet de train pour Lyon ?',
  'Quelle est la durée du bail ?',
  '¿Cuál es la capital de Perú?',
  '¿Quién firmó el contrato?',
  '日本の首相は誰ですか',
  'パスワードを変更する方法',
];

function ask(question: string) {
  const found = search(question, 10).flatMap((id) => passages.get(id) ?? []);
  const { sentences } = answerQuestion({ question, passages: found, maxSentences: 5 });
  const proofs = sentences.map((sentence): Proof => proveSentence(sentence, sources, question));
  return { found: found.map(({ id }) => id), proofs, cited: sentences.map(({ citations }) => citations[0]?.passage ?? '') };
}

describe('answers without a model, to questions about the samples in five languages', () => {
  it('cite a passage that responds nearly as often as the search finds one, and hold before the gate', () => {
    const asked = questions.map(({ query, relevant }) => ({ relevant, ...ask(query) }));
    const found = asked.filter(({ relevant, found: ids }) => ids.some((id) => relevant.includes(id))).length;
    const cited = asked.filter(({ relevant, cited: [first = ''] }) => relevant.includes(first)).length;
    expect(cited, `${cited} of ${found}`).to.be.at.least(found * 0.7);
    for (const proof of asked.flatMap(({ proofs }) => proofs)) expect(proof.holds, JSON.stringify(proof)).to.equal(true);
  });

  it('are hardly ever given where nothing responds', () => {
    const answered = unanswerable.filter((question) => ask(question).cited.length > 0);
    expect(answered.length, answered.join('\n')).to.be.at.most(1);
  });
});
