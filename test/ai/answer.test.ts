import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { answerQuestion } from '../../ai/answer/answer-question.ts';
import { quotePassage } from '../../ai/answer/quote-passage.ts';
import type { AiServiceError } from '../../ai/client.ts';
import { type AiService, refusalOf, startAiService } from './support/ai-service.ts';

/** Passages of these texts; their ids are `0`, `1`, and so on. */
function passages(...texts: string[]) {
  return texts.map((text, index) => ({ id: String(index), title: 'notes.txt', page: null, heading: null, text }));
}

function answer(question: string, texts: string[], maxSentences = 5) {
  return answerQuestion({ question, passages: passages(...texts), maxSentences }).sentences;
}

describe('quoting a passage', () => {
  it('says of each sentence how it stands there, line breaks and marks included', () => {
    const passage = `# The boat\n\nIt was *built* in
1887, by Dr. Ada. It **sank**.\n\n- a list item\n\n| pump | 12 |\n\nSee [the log](https://example.com/a) for whatever followed.`;
    expect(quotePassage(passage)).to.deep.equal([
      { text: 'The boat', quote: 'The boat', heading: '', before: '' },
      { text: 'It was built in 1887, by Dr. Ada.', quote: 'It was *built* in\n1887, by Dr. Ada.', heading: 'The boat', before: '' },
      { text: 'It sank.', quote: 'It **sank**.', heading: 'The boat', before: 'It was built in 1887, by Dr. Ada.' },
      { text: 'a list item', quote: 'a list item', heading: 'The boat', before: '' },
      { text: 'pump, 12', quote: 'pump | 12', heading: 'The boat', before: '' },
      {
        text: 'See the log for whatever followed.',
        quote: 'See [the log](https://example.com/a) for whatever followed.',
        heading: 'The boat',
        before: '',
      },
    ]);
  });

  it('quotes nothing that does not stand in the samples as it is', () => {
    for (const name of ['beekeeping-notes.md', 'lighthouse-log.txt', 'seed-inventory.csv']) {
      const text = readFileSync(`examples/samples/${name}`, 'utf8');
      const quoted = quotePassage(text);
      expect(quoted.length, name).to.be.above(10);
      for (const { quote } of quoted) expect(text.includes(quote), quote).to.equal(true);
    }
  });
});

describe('answering from passages', () => {
  it('chooses the sentence that responds, of the passage that has it', () => {
    const texts = ['The boat shed is closed. Nobody goes there.', 'The lease of the boat shed ends in May. The roof leaks.'];
    expect(answer('When does the lease of the boat shed end?', texts, 1)).to.deep.equal([
      { text: 'The lease of the boat shed ends in May.', citations: [{ passage: '1', quote: 'The lease of the boat shed ends in May.' }] },
    ]);
  });

  it('prefers what the kind of the question asks for: a number, a date, a name', () => {
    const deposit = ['The deposit of the flat is paid before moving in.', 'The deposit of the flat is 1,350 euros.'];
    expect(answer('How much is the deposit of the flat?', deposit)[0]?.citations[0]?.passage).to.equal('1');
    const signed = ['The lease was signed after long talks.', 'The lease was signed by Ada Klamroth.', 'The lease was signed on 4 May.'];
    expect(answer('Who signed the lease?', signed)[0]?.citations[0]?.passage).to.equal('1');
    expect(answer('When was the lease signed?', signed)[0]?.citations[0]?.passage).to.equal('2');
  });

  it('reads headings, titles and the sentence before with a sentence', () => {
    const text = '# Supply truck\n\nIt leaves the halt at 13:30.\n\n# Dome\n\nIt closes at 55 knots.';
    expect(answer('When does the supply truck leave?', [text])[0]?.text).to.equal('It leaves the halt at 13:30.');
  });

  it('prefers rare words of the question, and early passages', () => {
    const common = Array.from({ length: 12 }, (_, index) => `The hive of row ${index} is closed in winter.`);
    expect(answer('mites hive winter', [...common, 'Mites are counted here.'])[0]?.text).to.equal('Mites are counted here.');
    // It has two of three words, and the third in the sentence before.
    const first = 'The harbour is old. The ferry leaves the pier.';
    const fillers = Array.from({ length: 8 }, (_, index) => `Nothing of number ${index} is said.`);
    const last = 'The ferry leaves the harbour.';
    expect(answer('ferry leaves harbour', [first, ...fillers, last])[0]?.text).to.equal('The ferry leaves the pier.');
    expect(answer('ferry leaves harbour', [first, last])[0]?.text).to.equal(last);
  });

  it('prefers what is said to questions, to names and to long sentences, and leaves out what is much worse than the best', () => {
    const said = 'The ferry to the island is small.';
    const long = `The ferry to the island ${'goes on and on '.repeat(30)}there.`;
    for (const other of ['Is the ferry to the island small?', 'Ferry to the island', long])
      expect(answer('ferry to the island', [other, said])[0]?.text, other).to.equal(said);
    const best = 'The small ferry goes to the island with the lighthouse.';
    const worse = ['The ferry of the island is old.', 'A small lighthouse is red.'];
    expect(answer('ferry island small lighthouse', [best, ...worse]).map(({ text }) => text)).to.deep.equal([best]);
    expect(answer('ferry island small lighthouse', worse)).to.have.length(2);
  });

  it('reads other languages: endings, compounds, scripts without spaces', () => {
    for (const [question, text] of [
      ['Welche Frist hat die Kündigung?', 'Die Kündigungsfrist beträgt sechs Wochen.'],
      ['Когда закрыта библиотека?', 'Библиотеку закрывают по понедельникам, она закрыта и летом.'],
      ['Какие библиотеки закрыты?', 'Библиотека закрыта на ремонт.'],
      ['見学はいつですか', '見学は毎週木曜日の午後二時から。'],
      ['¿Cuándo se podan los olivos?', 'Los olivos viejos se podan en febrero.'],
    ] as const) {
      expect(
        answer(question, ['Another text about boats.', text]).map(({ citations }) => citations[0]?.passage),
        question,
      ).to.deep.equal(['1']);
    }
  });

  it('says nothing if nothing responds', () => {
    const texts = [readFileSync('examples/samples/beekeeping-notes.md', 'utf8').slice(0, 8_000)];
    for (const question of [
      'What is the capital of Mongolia?',
      'Who won the world cup in 1998?',
      'Wie hoch ist der Eiffelturm?',
      'パスワードを変更する方法',
      '???',
    ])
      expect(answer(question, texts), question).to.deep.equal([]);
    expect(answer('What do bees eat?', [])).to.deep.equal([]);
  });

  it('says a sentence once that overlapping passages have, and no more than are wanted', () => {
    const text = 'The lease ends in May. The lease ends in June. The lease ends in July.';
    expect(
      answer('When does the lease end?', [text, `${text} The lease ends never.`]).map(({ citations }) => citations[0]?.passage),
    ).to.include('0');
    const all = answer('When does the lease end?', [text, text]);
    expect(all.map((sentence) => sentence.text)).to.have.length(3);
    expect(answer('When does the lease end?', [text, text], 2)).to.deep.equal(all.slice(0, 2));
  });

  it('takes little time for long and hostile passages', () => {
    const question = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');
    for (const text of [
      'word1 '.repeat(1_300),
      'a '.repeat(4_000),
      '('.repeat(8_000),
      '[a]('.repeat(2_000),
      '漢字'.repeat(4_000),
      '. '.repeat(4_000),
    ]) {
      const startedAt = process.cpuUsage().user;
      answer(question, Array(50).fill(text));
      answer('漢字'.repeat(500), Array(50).fill(text));
      expect((process.cpuUsage().user - startedAt) / 1000, JSON.stringify(text.slice(0, 20))).to.be.below(10_000);
    }
  });
});

describe('/v1/answer', () => {
  let service: AiService;
  before(async () => {
    service = await startAiService();
  });
  after(() => service.stop());
  const post = (body: unknown) => service.ask('/v1/answer', { method: 'POST', body: JSON.stringify(body) });

  it('answers with the sentences of the passages, and says so', async () => {
    const [passage] = passages('The lease of the boat shed ends in May. The roof leaks.');
    if (!passage) throw new Error('There is no passage.');
    const asked = { question: 'When does the lease end?', passages: [passage], maxSentences: 1 };
    expect(await service.client.answer(asked)).to.deep.equal({
      sentences: [
        {
          text: 'The lease of the boat shed ends in May.',
          citations: [{ passage: '0', quote: 'The lease of the boat shed ends in May.' }],
        },
      ],
      extractive: true,
      model: null,
    });
    expect(await service.client.answer({ ...asked, question: 'What is the capital of Mongolia?' })).to.deep.equal({
      sentences: [],
      extractive: true,
      model: null,
    });
  });

  it('refuses what is over its limits, naming the field', async () => {
    const [passage] = passages('The lease ends in May.');
    for (const [change, field] of [
      [{ question: ' ' }, 'question'],
      [{ question: '😀'.repeat(2_001) }, 'question'],
      [{ passages: Array(51).fill(passage) }, 'passages'],
      [{ passages: [{ ...passage, text: 'a'.repeat(8_001) }] }, 'passages.0.text'],
      [{ passages: [{ ...passage, page: 'one' }] }, 'passages.0.page'],
      [{ max_sentences: 21 }, 'max_sentences'],
    ] as const) {
      const response = await post({ question: 'When?', passages: [passage], ...change });
      expect(response.status, field).to.equal(422);
      expect(((await response.json()) as { error: AiServiceError }).error.message).to.contain(field);
    }
    expect((await post({ question: '😀'.repeat(2_000), passages: [{ ...passage, text: '😀'.repeat(8_000) }] })).status).to.equal(200);
    expect(await refusalOf(await post({ question: 'a'.repeat(7_000_000), passages: [] }))).to.deep.equal([413, 'too_large']);
  });
});
