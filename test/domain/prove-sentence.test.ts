import { expect } from 'chai';
import { findQuote } from '../../domain/answers/find-quote.ts';
import { foldText } from '../../domain/answers/fold-text.ts';
import { proveSentence, type QuotedPassage } from '../../domain/answers/prove-sentence.ts';
import { isRecognized } from '../../domain/answers/read-passages.ts';

/** What a quote is in a text; undefined if it does not stand there. */
function found(quote: string, text: string, recognized = false): string | undefined {
  const place = findQuote(quote, { ...foldText(text), text }, { recognized });
  return place && text.slice(place.start, place.end);
}

const lease = `The lease of the boat shed was signed by Ada Halloran on 4 May 2024. The deposit is 1.350,00 €, the rent rises by 5 % a year. \
The truck leaves every Tuesday at 13:30. Raw data stay private for eighteen months. The pier cost five million dollars.`;

function passages(text: string, more: Partial<QuotedPassage> = {}): Map<string, QuotedPassage> {
  return new Map([['a', { text, start: 100, recognized: false, labels: [], ...more }]]);
}

/** Why a sentence with a quote of a text is withheld; `holds` if it is not. */
function judge(sentence: string, quote: string, { text = lease, question = '', labels = [] as string[] } = {}): string {
  const proof = proveSentence({ text: sentence, citations: [{ passage: 'a', quote }] }, passages(text, { labels }), question);
  return proof.holds ? 'holds' : proof.reason;
}

describe('a part of a document', () => {
  it('is recognized text if one of its pages was', () => {
    const outline = { characters: 300, pages: [0, 100, 200], headings: [] };
    const of = (start: number, end: number) => isRecognized({ outline, ocrConfidence: [null, 90, null] }, start, end);
    expect([of(0, 100), of(0, 101), of(100, 200), of(200, 300)]).to.deep.equal([false, true, true, false]);
    expect(isRecognized({ outline, ocrConfidence: null }, 0, 300)).to.equal(false);
  });
});

describe('looking a quote up', () => {
  it('finds it over line breaks, hyphens, ligatures, marks and Unicode forms, and returns what the text has', () => {
    const text = '# The “docu-\nment” is **ﬁnal**: naïve,\n> 非常に good — “yes”.';
    for (const [quote, verbatim] of [
      ['document', 'docu-\nment'],
      ['The document is final', 'The “docu-\nment” is **ﬁnal'],
      ['is final: nai\u0308ve', 'is **ﬁnal**: naïve'],
      ['naïve, 非常に good - "yes".', 'naïve,\n> 非常に good — “yes”.'],
      ['IS FINAL', 'is **ﬁnal'],
    ] as const)
      expect(found(quote, text), quote).to.equal(verbatim);
  });

  it('finds what stands in the passage before what stands around it', () => {
    const text = 'Notice: three months. And again: three months.';
    const place = (from: number) => findQuote('three months', { ...foldText(text), text }, { recognized: false, from })?.start;
    expect([0, 20, 40].map(place)).to.deep.equal([8, 33, 8]);
  });

  it('finds only whole words, characters and numbers', () => {
    const text = 'An information of 1,250.00 euros, -3 degrees, 10² and 1 000 men at café in 1893. 12 women';
    for (const quote of ['form', 'an inform', '250.00 euros', '1,250', '3 degrees', '102', '10 and', '000 men', 'cafe', '1893 12'])
      expect(found(quote, text), quote).to.equal(undefined);
    for (const quote of ['1,250.00 euros', '-3 degrees', '10²', '1 000 men', 'café', 'in 1893.', '12 women'])
      expect(found(quote, text)).to.equal(quote);
  });

  it('finds no parts that are joined, and nothing in nothing', () => {
    expect(found('The lease … 4 May 2024', lease)).to.equal(undefined);
    expect(found('The lease of the boat shed on 4 May 2024', lease)).to.equal(undefined);
    expect(found('', lease)).to.equal(undefined);
    expect(found('...', lease)).to.equal(undefined);
    expect(found('lease', '')).to.equal(undefined);
  });

  it('tolerates letters that text recognition misreads, where it has read the text, but no other digit, word or name', () => {
    const read = 'Thc brldge over the river Tarn is ciosed to rnen from 12 May, and not to women.';
    const quote = 'The bridge over the river Tarn is closed to men from 12 May, and not to women.';
    expect(found(quote, read)).to.equal(undefined);
    expect(found(quote, read, true)).to.equal(read);
    expect(found('is closed to men from 12 May', read, true)).to.equal('is ciosed to rnen from 12 May');
    for (const [one, other] of [
      ['12 May', '13 May'],
      ['12 May', '2 May'],
      ['closed', 'open'],
      ['not to', 'to'],
      ['to women', 'to all women'],
      ['women', 'children'],
      ['over the river', 'the over river'],
    ] as const)
      expect(found(quote.replace(one, other), read, true), other).to.equal(undefined);
  });

  it('tolerates no other word in a script without spaces between words', () => {
    const read = 'しろいかみをふゆのかわでみっかかんさらしてからてんぴでかわかしつぎのあさにいちょうのいたにはってしあげるのがならわし';
    expect(found(read.replace('てんぴで', 'てんひで'), read, true)).to.equal(read);
    expect(found(read.replace('てんぴで', 'すみびで'), read, true)).to.equal(undefined);
  });

  it('takes little time for a long quote and a hostile text', () => {
    const startedAt = process.cpuUsage().user;
    for (const [quote, text] of [
      ['ab'.repeat(2_000), 'ab'.repeat(1_900) + 'ba'.repeat(8_000)],
      ['a'.repeat(4_000), 'a'.repeat(3_990)],
      [' .'.repeat(2_000), '. '.repeat(10_000)],
      [`x${'a'.repeat(4_000)}`, 'a'.repeat(20_000)],
    ] as const)
      found(quote, text, true);
    expect((process.cpuUsage().user - startedAt) / 1_000).to.be.below(20_000);
  });
});

describe('proving a sentence', () => {
  it('returns the quotes that hold, as the document has them, with their places, each once', () => {
    const text = 'An 😀 opens it. The lease\nends in May. A wet winter.';
    const citations = ['The lease ends in May', 'the lease ends in may', 'never said', 'A wet winter'].map((quote) => ({
      passage: 'a',
      quote,
    }));
    expect(proveSentence({ text: 'The lease ends in May.', citations }, passages(text))).to.deep.equal({
      holds: true,
      citations: [
        { passage: 'a', quote: 'The lease\nends in May', start: 115, end: 136, exact: true },
        { passage: 'a', quote: 'A wet winter', start: 138, end: 150, exact: true },
      ],
    });
  });

  it('says of a quote that text recognition misread that it differs', () => {
    const proof = proveSentence(
      { text: 'The lease ends in summer.', citations: [{ passage: 'a', quote: 'The lease ends in summer' }] },
      passages('The leasc ends in surnmer.', { recognized: true }),
    );
    expect(proof).to.deep.equal({
      holds: true,
      citations: [{ passage: 'a', quote: 'The leasc ends in surnmer', start: 100, end: 125, exact: false }],
    });
  });

  it('withholds a sentence without a quote that holds, and says why', () => {
    const prove = (...citations: { passage: string; quote: string }[]) => proveSentence({ text: 'It ends.', citations }, passages(lease));
    expect(prove()).to.deep.equal({ holds: false, reason: 'no_citation' });
    expect(prove({ passage: 'b', quote: 'The lease of the boat shed' })).to.deep.equal({ holds: false, reason: 'unknown_passage' });
    expect(prove({ passage: 'a', quote: 'of the' })).to.deep.equal({ holds: false, reason: 'quote_too_short' });
    expect(prove({ passage: 'a', quote: 'The lease of the barn' })).to.deep.equal({ holds: false, reason: 'quote_not_found' });
  });

  it('knows numbers in several notations', () => {
    for (const said of ['1,350', '1.350,00', '1 350', "1'350.00", '1350'])
      expect(judge(`The deposit is ${said} €.`, 'deposit is 1.350,00 €'), said).to.equal('holds');
    for (const said of ['1,351 €', '13.50 €', '1,350 dollars', '-1,350 €', '1,350 € for 2 years'])
      expect(judge(`The deposit is ${said}.`, 'deposit is 1.350,00 €'), said).to.equal('number');
    for (const said of ['$5,000,000', '5 million dollars', 'five million dollars', '5.0 million dollars'])
      expect(judge(`It cost ${said}.`, 'pier cost five million dollars'), said).to.equal('holds');
    for (const said of ['$6,000,000', '5 dollars', '5 billion dollars', 'six million dollars'])
      expect(judge(`It cost ${said}.`, 'pier cost five million dollars'), said).to.equal('number');
    expect(judge('The rent rises by 5 percent.', 'the rent rises by 5 %')).to.equal('holds');
    expect(judge('Data are private for 18 months.', 'stay private for eighteen months')).to.equal('holds');
    expect(judge('Data are private for eleven months.', 'stay private for eighteen months')).to.equal('number');
    expect(
      judge('It holds between 25 and 25 degrees.', 'between 15 and 25 degrees', { text: 'It holds between 15 and 25 degrees.' }),
    ).to.equal('number');
    expect(judge('The lot has 655 grams, 3000 seeds.', 'Quist,655,3000,54,shelf', { text: 'Quist,655,3000,54,shelf' })).to.equal('holds');
    expect(judge('The sum is 120450.', 'pump\t120\t450', { text: 'pump\t120\t450' })).to.equal('number');
    expect(judge('定員は8名。', '定員は八名', { text: '見学の定員は八名。' })).to.equal('holds');
    expect(judge('定員は9名。', '定員は八名', { text: '見学の定員は八名。' })).to.equal('number');
    expect(judge('الرسوم 1275 ريالا', 'ورسوم التأخير ١٢٧٥ ريالا', { text: 'ورسوم التأخير ١٢٧٥ ريالا' })).to.not.equal('number');
  });

  it('knows dates and times that are written in several ways', () => {
    for (const said of [
      'May 4, 2024',
      '4th of May, 2024',
      '2024-05-04',
      '04.05.2024',
      '4. Mai 2024',
      '4 mai 2024',
      '4 de mayo de 2024',
      '4 мая 2024',
      '2024年5月4日',
      'May 2024',
      '2024',
    ])
      expect(judge(`It was signed on ${said}`, 'was signed by Ada Halloran on 4 May 2024'), said).to.equal('holds');
    for (const said of ['May 5, 2024', '4 June 2024', '4 May 2023', '2024-05-05', 'Monday, 4 May 2024', '4. Juni 2024'])
      expect(judge(`It was signed on ${said}`, 'was signed by Ada Halloran on 4 May 2024'), said).to.equal('date');
    for (const said of ['on Tuesdays at 1:30 p.m.', 'mardi à 13h30', 'am Dienstag um 13.30 Uhr', 'at 13:30'])
      expect(judge(`it leaves ${said}`, 'leaves every Tuesday at 13:30'), said).to.equal('holds');
    for (const said of ['at 13:31', 'at 1:30 a.m.', 'at 2 p.m.'])
      expect(judge(`it leaves ${said}`, 'leaves every Tuesday at 13:30'), said).to.equal('number');
    expect(judge('it leaves on Friday', 'leaves every Tuesday at 13:30')).to.equal('date');
  });

  it('wants the names of a sentence in the sentences that it quotes, or in titles and headings', () => {
    const quote = 'was signed by Ada Halloran';
    expect(judge('Ada Halloran signed it.', quote)).to.equal('holds');
    expect(judge('The lease of Halloran.', 'lease of the boat shed')).to.equal('holds');
    for (const said of [
      'It was signed by Okoye.',
      'Okoye signed it.',
      'The Okoye lease.',
      'NASA signed it.',
      'Ada Halloran signed it with Ada Okoye.',
    ])
      expect(judge(said, quote), said).to.equal('name');
    expect(judge('The lease of Sandhaven was signed.', quote)).to.equal('name');
    expect(judge('The lease of Sandhaven was signed.', quote, { labels: ['Lease of Sandhaven.pdf'] })).to.equal('holds');
    expect(judge('Payment is due.', quote)).to.equal('name');
    expect(judge('Payment is due.', quote, { question: 'When is the payment due?' })).to.equal('holds');
    expect(judge('Договор подписала Анна Петрова.', 'подписан Анной Петровой', { text: 'Договор подписан Анной Петровой.' })).to.equal(
      'holds',
    );
    expect(judge('Договор подписал Иван Сидоров.', 'подписан Анной Петровой', { text: 'Договор подписан Анной Петровой.' })).to.equal(
      'name',
    );
  });

  it('takes nouns of German for names only if neither passage nor question has them', () => {
    const text = 'Der Mietvertrag von Frieda Klamroth endet mit einer Frist von sechs Wochen. Die Pumpe lieferte Anna Weber.';
    const quote = 'endet mit einer Frist von sechs Wochen';
    expect(judge('Der Vertrag endet nach einer Frist von 6 Wochen.', quote, { text })).to.equal('holds');
    expect(judge('Die Dauer ist sechs Wochen.', quote, { text, question: 'Wie lang ist die Dauer?' })).to.equal('holds');
    expect(judge('Der Vertrag mit Lindqvist endet nach sechs Wochen.', quote, { text })).to.equal('name');
    expect(judge('Der Vertrag mit Weber endet nach sechs Wochen.', quote, { text })).to.equal('name');
    expect(
      judge('Der Vertrag endet nach einer Frist von sechs Wochen.', 'ends after six weeks', { text: 'It ends after six weeks.' }),
    ).to.equal('holds');
  });

  it('wants the words of the quotes where a script has no capital letters', () => {
    const text = '山野町の和紙工房は、楮の皮を冬の川で三日間さらして白くする。';
    expect(judge('楮の皮を冬の川でさらす。', '楮の皮を冬の川で三日間さらして白くする', { text })).to.equal('holds');
    expect(judge('田中さんが工房を建てました。', '楮の皮を冬の川で三日間さらして白くする', { text })).to.equal('name');
    expect(judge('契約は5月に終わります。', 'The lease ends in May', { text: 'The lease ends in May.' })).to.equal('holds');
  });
});
