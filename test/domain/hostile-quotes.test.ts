import { expect } from 'chai';
import { type Proof, proveSentence, type QuotedPassage } from '../../domain/answers/prove-sentence.ts';
import { countCharacters } from '../../domain/characters.ts';
import {
  isUnspaced,
  joinParts,
  misread,
  partsOf,
  pick,
  type Random,
  randomOf,
  readSources,
  type Said,
  type Source,
} from '../support/hostile-quotes.ts';

const sources = readSources().filter(({ sentences }) => sentences.length > 0);
const everything = sources.map(({ passage }) => lettersOf(passage.text)).join('|');
const vocabulary = sources.flatMap(({ sentences }) => sentences.flatMap(partsOf));

function lettersOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '');
}

/** What a model that lies makes of a sentence of a passage; undefined if the sentence is not fit for that. */
type Lie = (sentence: string, source: Source, random: Random) => { text?: string; quote?: string; passage?: string } | undefined;

const lies: Record<string, Lie> = {
  'a quote that is made up': (sentence, _, random) => ({
    quote: joinParts(
      partsOf(sentence).map(() => pick(vocabulary, random)),
      sentence,
    ),
  }),
  'a passage of another document': (sentence, source, random) => {
    const other = pick(sources, random);
    return other === source || lettersOf(other.passage.text).includes(lettersOf(sentence)) ? undefined : { passage: other.id };
  },
  'a passage that there is not': () => ({ passage: 'p9999' }),
  'two parts stitched together': (sentence, _, random) => {
    const parts = partsOf(sentence);
    const cut = Math.floor(parts.length / 3);
    if (cut < 2) return undefined;
    return {
      quote: joinParts([...parts.slice(0, cut), pick(['...', '…', '[…]', '(...)', '–', ''], random), ...parts.slice(-cut)], sentence),
    };
  },
  'parts of two sentences stitched together': (sentence, source, random) => {
    const [one, other] = [partsOf(sentence), partsOf(pick(source.sentences, random))];
    return { quote: joinParts([...one.slice(0, one.length / 2), ...other.slice(-other.length / 2)], sentence) };
  },
  'another number in the quote': (sentence, _, random) => ({ quote: otherNumber(sentence, random) }),
  'another number in the sentence': (sentence, _, random) => ({ text: otherNumber(sentence, random) }),
  'another number in both': (sentence, _, random) => {
    const text = otherNumber(sentence, random);
    return { text, quote: text };
  },
  'another day or month in the sentence': (sentence, _, random) => ({ text: replaced(sentence, daysAndMonths, random) }),
  'another number in words in the sentence': (sentence, _, random) => ({ text: replaced(sentence, wordedNumbers, random) }),
  'another name in the sentence': (sentence, _, random) => ({
    text: sentence.replace(/(?<=\p{Ll},? )\p{Lu}\p{Ll}{3,}(?= \p{Lu}\p{Ll}|[ ,.])/u, pick(names, random)),
  }),
  'a name at the beginning': (sentence, _, random) => ({
    text: sentence.replace(/^\p{L}+/u, `${pick(names, random)} ${pick(names, random)}`),
  }),
  'somebody who says it': (sentence, _, random) => ({ text: `${sentence.replace(/[.。]$/, '')}, as ${pick(names, random)} told us.` }),
  'a word left out': (sentence, _, random) => changed(sentence, random, () => []),
  'a word put in': (sentence, _, random) =>
    changed(sentence, random, (word) => [word, pick(['never', 'nicht', 'jamais', 'nunca', '決して'], random)]),
  'another word': (sentence, _, random) => changed(sentence, random, () => [pick(vocabulary, random)]),
  'two words swapped': (sentence, _, random) => {
    const parts = partsOf(sentence);
    const at = 1 + Math.floor(random() * (parts.length - 3));
    return { quote: joinParts(parts.toSpliced(at, 2, parts[at + 1] ?? '', parts[at] ?? ''), sentence) };
  },
  'a quote that begins in the middle of a word': (sentence) => {
    const start = sentence.search(/(?<=[\p{L}\p{N}])[\p{L}\p{N}]{2}/u);
    return isUnspaced(sentence) ? undefined : { quote: sentence.slice(start) };
  },
  'a quote that says nothing': (_, __, random) => ({
    quote: pick(['the', 'of the', 'und die', 'de la', 'en', 'It is', 'の', '...', ''], random),
  }),
};

const names = ['Zanna', 'Okoye', 'Kovacs', 'Brannigan', 'Lindqvist', 'Tanaka', 'Moreau', 'Petrov'];
/** One language a line. */
const daysAndMonths =
  listsOf(`Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August October
Januar Juli Oktober September Dezember Mai
avril octobre
febrero diciembre`);
const wordedNumbers = listsOf(`two three four five six seven eight nine ten eleven twelve thirteen eighteen twenty fifty ninety
zwei drei sechs acht achtzehn vierzehn
deux trois six douze
dos tres cinco diecinueve veintisiete`);

function listsOf(lines: string): string[][] {
  return lines.split('\n').map((line) => line.split(' '));
}

/** With one of these words for another one of its list. */
function replaced(sentence: string, lists: string[][], random: Random): string {
  const wordIn = (word: string) => new RegExp(`(?<!\\p{L})${word}(?!\\p{L})`, 'u');
  const own = lists.filter((words) => words.some((word) => wordIn(word).test(sentence)));
  const list = own[0] ?? [];
  const word = list.find((one) => wordIn(one).test(sentence));
  // Six is a number in two of the languages.
  return word === undefined || own.length > 1
    ? sentence
    : sentence.replace(
        wordIn(word),
        pick(
          list.filter((one) => one !== word),
          random,
        ),
      );
}

function otherNumber(sentence: string, random: Random): string {
  return sentence.replace(/\d(?!.*\d)|(?<=^\D*)\d/u, (digit) => String((Number(digit) + 1 + Math.floor(random() * 9)) % 10));
}

/** With something else for a word that is neither the first nor the last and has some letters. */
function changed(sentence: string, random: Random, change: (word: string) => string[]): { quote: string } | undefined {
  const parts = partsOf(sentence);
  const inner = [...parts.keys()].slice(1, -1).filter((index) => lettersOf(parts[index] ?? '').length >= 3);
  if (inner.length === 0) return undefined;
  const at = pick(inner, random);
  return { quote: joinParts(parts.toSpliced(at, 1, ...change(parts[at] ?? '')), sentence) };
}

/** As many lies, of each kind in turn. */
function tellLies(count: number, seed: number): Said[] {
  const random = randomOf(seed);
  const kinds = Object.entries(lies);
  return Array.from({ length: count }, (_, index) => {
    const [kind, lie] = kinds[index % kinds.length] ?? ['', () => undefined];
    for (;;) {
      const source = pick(sources, random);
      const sentence = pick(source.sentences, random);
      const { text, quote, passage } = lie(sentence, source, random) ?? {};
      const isChanged = passage !== undefined || [text, quote].some((one) => one !== undefined && !isTrue(one));
      if (isChanged)
        return {
          kind,
          sentence: { text: text ?? quote ?? sentence, citations: [{ passage: passage ?? source.id, quote: quote ?? sentence }] },
        };
    }
  });
}

/** Some changes change nothing: a word for the same one. */
function isTrue(text: string): boolean {
  return lettersOf(text).length > 8 && everything.includes(lettersOf(text));
}

/** How a model that tells the truth quotes a sentence. */
const truths: Record<string, (sentence: string) => { text: string; quote: string }> = {
  'as it is': (sentence) => ({ text: sentence, quote: sentence }),
  'with other line breaks': (sentence) => ({ text: sentence, quote: sentence.replaceAll(' ', '\n') }),
  'a part of it': (sentence) => {
    const parts = partsOf(sentence);
    const some = joinParts(isUnspaced(sentence) ? parts : parts.slice(0, Math.max(6, Math.ceil(parts.length / 2))), sentence);
    return { text: some, quote: some };
  },
  'with other marks': (sentence) => ({
    text: sentence,
    quote: `“${sentence
      .replaceAll("'", '’')
      .replaceAll('fi', 'ﬁ')
      .replaceAll(/(?<=\p{L})-(?=\p{L})/gu, '‑')
      .replaceAll(/[*_`]/g, '')}”`,
  }),
  'in another Unicode form': (sentence) => ({ text: sentence.normalize('NFD'), quote: sentence.normalize('NFD') }),
  'in small letters, with a hyphen at the end of a line': (sentence) => {
    const quote = sentence.replace(/(\p{Ll}{4})(\p{Ll}{4})/u, '$1-\n$2');
    return { text: sentence, quote };
  },
};

function tellTruths(count: number, seed: number): Said[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => {
    const [source, kind] = [pick(sources, random), pick(Object.keys(truths), random)];
    const said = truths[kind]?.(pick(source.sentences, random)) ?? { text: '', quote: '' };
    return { kind, sentence: { text: said.text, citations: [{ passage: source.id, quote: said.quote }] } };
  });
}

function passagesOf(change: (passage: QuotedPassage) => QuotedPassage = (passage) => passage): Map<string, QuotedPassage> {
  return new Map(sources.map(({ id, passage }) => [id, change(passage)]));
}

/** As text recognition has read them. */
function misreadPassages(): Map<string, QuotedPassage> {
  const random = randomOf(44);
  return passagesOf((passage) => ({ ...passage, text: misread(passage.text, random), recognized: true }));
}

function judge(said: Said[], passages: Map<string, QuotedPassage>): { held: Said[]; withheld: (Said & { proof: Proof })[] } {
  const judged = said.map((one) => ({ ...one, proof: proveSentence(one.sentence, passages) }));
  for (const { proof } of judged) if (proof.holds) expectVerbatim(proof, passages);
  return { held: judged.filter(({ proof }) => proof.holds), withheld: judged.filter(({ proof }) => !proof.holds) };
}

function expectVerbatim(proof: Proof & { holds: true }, passages: Map<string, QuotedPassage>): void {
  for (const { passage, quote, start, end } of proof.citations) {
    const source = passages.get(passage);
    const characters = [...(source?.text ?? '')];
    expect(characters.slice(start - (source?.start ?? 0), end - (source?.start ?? 0)).join('')).to.equal(quote);
    expect(end - start).to.equal(countCharacters(quote));
  }
}

function show(said: Said[]): string {
  return said.map(({ kind, sentence }) => `${kind}: ${sentence.text}\n    ${JSON.stringify(sentence.citations)}`).join('\n');
}

describe('the gate before answers, and a model that lies', () => {
  it('is tried with texts in many scripts, and every kind of lie', () => {
    const texts = sources.flatMap(({ sentences }) => sentences).join('');
    for (const script of ['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Han', 'Hiragana', 'Hangul', 'Thai', 'Devanagari'])
      expect(texts, script).to.match(new RegExp(`\\p{Script=${script}}`, 'u'));
    expect(new Set(tellLies(100, 1).map(({ kind }) => kind))).to.have.keys(...Object.keys(lies));
  });

  it('lets none of 1,000 lies pass', () => {
    expect(show(judge(tellLies(1_000, 1), passagesOf()).held)).to.equal('');
  });

  it('lets at least 198 of 200 true quotes pass', () => {
    const { held, withheld } = judge(tellTruths(200, 2), passagesOf());
    expect(held.length, show(withheld)).to.be.at.least(198);
  });

  it('lets none of 1,000 lies about recognized text pass', () => {
    expect(show(judge(tellLies(1_000, 3), misreadPassages()).held)).to.equal('');
  });

  it('lets at least 198 of 200 true quotes of recognized text pass, and says which differ', () => {
    const passages = misreadPassages();
    const { held, withheld } = judge(tellTruths(200, 4), passages);
    expect(held.length, show(withheld)).to.be.at.least(198);
    const proofs = held.map(({ sentence }) => proveSentence(sentence, passages));
    expect(proofs.filter((proof) => proof.holds && proof.citations.some(({ exact }) => !exact)).length).to.be.above(40);
    const read = passagesOf((passage) => ({
      ...(passages.get(sources.find((source) => source.passage === passage)?.id ?? '') ?? passage),
      recognized: false,
    }));
    expect(judge(tellTruths(200, 4), read).held.length).to.be.below(160);
  });
});
