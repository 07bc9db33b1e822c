import { expect } from 'chai';
import { toAnswer, toUnits } from '../../domain/answers/to-answer.ts';
import { passageOf } from '../support/answer-passages.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { randomOf } from '../support/random.ts';

const text = `The lease ends in May. It may be ended earlier. The roof leaks.

Bring these things:
- a lamp
  - with oil
- rope

Weights of lamps.

| Model | Weight |
| K1 | 410 g |
| K2 | 90 g |`;
const passages = [passageOf(text), passageOf('😀 Dogs are welcome.', { name: 'other.txt' })];
/** Which unit has which number. */
const numberOf = (words: string) =>
  passages.flatMap(({ text: all, units }) => units.map(({ start, end }) => all.slice(start, end))).indexOf(words) + 1;

function show(picks: { units: number[]; mark?: string | null }[], draft: string | null = null, maxSentences = 20) {
  const answer = picks.map(({ units, mark = null }) => ({ units, mark }));
  return toAnswer({ answer, draft, extractive: false, model: 'm' }, passages, maxSentences);
}

describe('An answer', () => {
  it('shows the picked units in their order, letter for letter, with their place', () => {
    const { sentences } = show([
      { units: [numberOf('😀 Dogs are welcome.')], mark: 'Dogs' },
      { units: [1], mark: 'in June' },
    ]);
    expect(sentences.map((sentence) => [sentence.text, sentence.mark])).to.deep.equal([
      ['😀 Dogs are welcome.', 'Dogs'],
      ['The lease ends in May.', null],
    ]);
    expect(sentences[0]?.citations[0]).to.include({
      documentId: 'other.txt',
      start: 0,
      end: 19,
      quote: '😀 Dogs are welcome.',
      exact: true,
    });
    expect(sentences[1]?.citations[0]?.context).to.deep.include({ before: null, after: 'It may be ended earlier.' });
  });

  it('leaves out unknown numbers, shows repeated ones once, and neighbours as one', () => {
    const shown = (...units: number[][]) => show(units.map((some) => ({ units: some }))).sentences.map((sentence) => sentence.text);
    expect(shown([0], [-1], [99], [1.5], [1], [1], [1, 1])).to.deep.equal(['The lease ends in May.']);
    expect(shown([1, 2])).to.deep.equal(['The lease ends in May. It may be ended earlier.']);
    expect(shown([1, 3])).to.deep.equal(['The lease ends in May.', 'The roof leaks.']);
    expect(shown([3], [1, 2], [2, 3])).to.deep.equal(['The roof leaks.', 'The lease ends in May. It may be ended earlier.']);
    expect(show([{ units: [1] }, { units: [3] }], null, 1).sentences).to.have.length(1);
  });

  it('shows once what two documents say in the same place, with a citation of each', () => {
    const dogs = 'Dogs are welcome. Cats are not.';
    const table = (head: string) => passageOf(`| Model | ${head} |\n| K1 | 410 |`, { name: head });
    const all = [
      passageOf(dogs),
      passageOf(dogs, { name: 'copy.txt' }),
      passageOf('Dogs are welcome. So are cats.', { name: 'rest.txt' }),
      table('Weight'),
      table('Price'),
    ];
    const picked = all.flatMap(({ own }) => own).map((_, index) => ({ units: [index + 1], mark: null }));
    const { sentences } = toAnswer({ answer: picked, draft: null, extractive: true, model: 'm' }, all, 4);
    const cited = sentences.map(({ text: shown, citations }) => [shown, citations.map(({ documentName }) => documentName).join()]);
    expect(cited).to.deep.equal([
      ['Dogs are welcome.', 'notes.txt,copy.txt'],
      ['Cats are not.', 'notes.txt,copy.txt'],
      ['Dogs are welcome.', 'rest.txt'],
      ['So are cats.', 'rest.txt'],
    ]);
    const rows = toAnswer({ answer: picked, draft: null, extractive: true, model: 'm' }, all, 20).sentences.filter(({ text: shown }) =>
      shown.includes('K1'),
    );
    expect(rows.map(({ citations }) => citations.length)).to.deep.equal([1, 1]);
  });

  it('shows a unit that leans on the one before together with it', () => {
    const [sentence] = show([{ units: [2] }]).sentences;
    expect(sentence?.text).to.equal('The lease ends in May. It may be ended earlier.');
    expect(sentence?.citations[0]).to.include({ start: 0, quote: sentence?.text });
  });

  it('tells the words that lean by their language', () => {
    const isJoined = (two: string) => {
      const passage = passageOf(two);
      const answer = [{ units: [2], mark: null }];
      return toAnswer({ answer, draft: null, extractive: false, model: 'm' }, [passage], 5).sentences[0]?.text === two;
    };
    const leaning = [
      'Das Haus ist alt. Es wird verkauft.',
      'Het huis is oud. Die wordt niet verkocht.',
      'La casa è vecchia. Essa non si vende.',
    ];
    const others = [
      'Das Haus ist alt. Die Miete ist am 3. Mai fällig.',
      'The lamps are old. Of the three lamps one is red.',
      'La lámpara es vieja. El faro está cerrado.',
      'Het huis is oud. Het dak lekt.',
    ];
    expect([...leaning, ...others].filter(isJoined)).to.deep.equal(leaning);
  });

  it('shows beside an item its parents and the line before its list', () => {
    const [{ context } = expect.fail()] = show([{ units: [numberOf('- with oil')] }]).sentences[0]?.citations ?? [];
    expect(context).to.deep.include({ lead: 'Bring these things:', parents: ['- a lamp'], cells: [] });
  });

  it('shows beside a row its cells with their heads, and the line before its table', () => {
    const [{ context } = expect.fail()] = show([{ units: [numberOf('| K2 | 90 g |')] }]).sentences[0]?.citations ?? [];
    const cells = [
      { head: 'Model', text: 'K2' },
      { head: 'Weight', text: '90 g' },
    ];
    expect(context).to.deep.include({ lead: 'Weights of lamps.', cells });
  });

  it('shows a thousand characters of each line beside a unit, and the unit whole', () => {
    const long = `${'😀 around '.repeat(4_000)}the lamps`;
    const item = `- ${'rope '.repeat(3_000).trim()}`;
    const passage = passageOf(`${long}:\n\n${item}\n  - oil`);
    const answer = [2, 3].map((unit) => ({ units: [unit], mark: null }));
    const { sentences } = toAnswer({ answer, draft: null, extractive: true, model: null }, [passage], 5);
    expect(sentences[0]?.text).to.equal(item);
    const { lead, parents } = sentences[1]?.citations[0]?.context ?? expect.fail();
    expect(lead).to.equal([...long].slice(0, 1_000).join(''));
    expect(parents).to.deep.equal([item.slice(0, 1_000)]);
  });

  it('shows a row of more cells than a thousand as it stands', () => {
    const row = (count: number) => `|${' 1 |'.repeat(count)}`;
    const passage = passageOf(`|${' a |'.repeat(1_001)}\n|${'---|'.repeat(1_001)}\n${row(1_000)}\n${row(1_001)}`);
    const numbers = passage.units.flatMap(({ kind }, index) => (kind === 'row' ? [index + 1] : [])).slice(-2);
    const answer = numbers.map((unit) => ({ units: [unit], mark: null }));
    const { sentences } = toAnswer({ answer, draft: null, extractive: true, model: null }, [passage], 5);
    expect(sentences.map(({ text: shown }) => shown)).to.deep.equal([row(1_000), row(1_001)]);
    expect(sentences.map(({ citations }) => citations[0]?.context.cells.length)).to.deep.equal([1_000, 0]);
  });

  it('is picked of units with the heads that a thousand characters have', () => {
    const head = 'wide '.repeat(4_000).trim();
    const { units } = toUnits(passageOf(`${'Around '.repeat(4_000)}:\n\n| ${head} | b |\n${'| 1 | 2 |\n'.repeat(300)}`));
    expect(units).to.have.length(302);
    expect(units.at(-1)?.text).to.equal(`${head.slice(0, 100)}: 1 · b: 2`);
    expect(JSON.stringify(units).length).to.be.below(1_000_000);
  });

  it('is picked of units as fast as a long list, a long table or many headings are read', async () => {
    const headings = Array.from({ length: 5_000 }, (_, index) => ({ level: 1 + (index % 6), start: index * 12, title: 'rope' }));
    const texts = ['- rope\n'.repeat(28_000), `| a |\n|---|\n${'| 1 |\n'.repeat(28_000)}`, '# rope\nOil.\n'.repeat(5_000)];
    for (const [index, each] of texts.entries()) {
      const passage = passageOf(each, { headings: index === 2 ? headings : [] });
      expect(await processorSeconds(() => toUnits(passage)), each.slice(0, 10)).to.be.below(1);
    }
  });

  it('shows what the model itself said only beside units, unchecked', () => {
    expect(show([{ units: [1] }], 'In June.').draft).to.deep.equal({ text: 'In June.', checked: false });
    expect(show([{ units: [99] }], 'In June.')).to.deep.include({ draft: null, nothingFound: true, sentences: [] });
  });

  it('has no word that no document has, whatever numbers are picked', () => {
    const random = randomOf(52);
    const texts = passages.map((passage) => passage.text);
    for (let round = 0; round < 1_000; round += 1) {
      const picks = Array.from({ length: 6 }, () => ({
        units: Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * 30) - 5),
        mark: random() < 0.5 ? 'free of charge' : 'May',
      }));
      for (const { text: shown, mark, citations } of show(picks).sentences) {
        expect(texts.some((one) => one.includes(shown))).to.equal(true);
        expect(mark === null || shown.includes(mark)).to.equal(true);
        expect(citations.map(({ quote }) => quote)).to.deep.equal([shown]);
      }
    }
  });
});
