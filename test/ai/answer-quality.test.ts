import { expect } from 'chai';
import { answerQuestion } from '../../ai/answers/rank-units.ts';
import { plainBm25 } from '../lab/bench/baselines/plain-bm25.ts';
import { fiveLanguages } from '../lab/bench/collections/five-languages.ts';
import { otherWords } from '../lab/bench/collections/other-words.ts';
import { unitsOf } from '../support/answer-passages.ts';

const { documents } = fiveLanguages;
// A question in other words than its text's shares more of them with a text that does not respond, and an answer without a model knows only words.
const inOtherWords = new Set(otherWords.flatMap(({ questions }) => questions.map(({ query }) => query)));
const questions = fiveLanguages.questions.filter(({ query }) => !inOtherWords.has(query));
const search = plainBm25(documents);
const texts = new Map(documents.map(({ id, text }) => [id, text]));

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

/** The texts that a search finds, and that of the first unit of the answer. */
function ask(question: string) {
  const found = search(question, 10);
  const passages = unitsOf(...found.map((id) => texts.get(id) ?? ''));
  const [first] = answerQuestion({ question, before: null, draft: false, embedModel: null, passages, maxSentences: 5 });
  const owners = passages.flatMap(({ units }, index) => units.map(() => found[index] ?? ''));
  return { found, cited: first ? owners[(first.units[0] ?? 0) - 1] : undefined };
}

describe('answers without a model, to questions about the samples in five languages', () => {
  it('cite a passage that responds nearly as often as the search finds one, if the words are the text’s', () => {
    const asked = questions.map(({ query, relevant }) => ({ relevant, ...ask(query) }));
    const found = asked.filter(({ relevant, found: ids }) => ids.some((id) => relevant.includes(id))).length;
    const cited = asked.filter(({ relevant, cited: first = '' }) => relevant.includes(first)).length;
    expect(cited, `${cited} of ${found}`).to.be.at.least(found * 0.8);
  });

  it('are hardly ever given where nothing responds', () => {
    const answered = unanswerable.filter((question) => ask(question).cited !== undefined);
    expect(answered.length, answered.join('\n')).to.be.at.most(1);
  });
});
