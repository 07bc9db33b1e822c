import { expect } from 'chai';
import { languageOf } from '../../base/text/languages.ts';
import { createHighlighter } from '../../domain/search/highlights.ts';
import { readQuery } from '../../domain/search/read-query.ts';
import { termsOf } from '../../domain/search/terms.ts';

describe('Highlights', () => {
  const marked = (query: string, text: string) => {
    const characters = [...text];
    return createHighlighter(query)(text).map(({ start, end }) => characters.slice(start, end).join(''));
  };

  const isFound = (query: string, text: string) => {
    const { terms, languages } = readQuery(query);
    return [...languages, languageOf(text) ?? 'en'].some((language) => termsOf(text, language).some((term) => terms.has(term)));
  };

  const cases: [query: string, text: string, found: string[]][] = [
    ['washing mirrors', 'A mirror is washed. MIRRORS!', ['mirror', 'washed', 'MIRRORS']],
    ['the mirror', 'the 😀 mirror of the telescope', ['mirror']],
    ['etes', 'pendant l’été, des Étés', ['été', 'Étés']],
    ['strasse', 'die lange Straße', ['Straße']],
    ['INV-2024-001', 'Invoice INV-2024-001 of May, not INV-7', ['INV-2024-001', 'INV']],
    ['bar', 'calls foo_bar(1)', ['bar']],
    ['1200', 'for 1,200 hours', ['1,200']],
    ["keeper's lamp", "The keeper's lamps", ['keeper', 'lamps']],
    ['望遠鏡', '天文台の望遠鏡を掃除する', ['望遠鏡']],
    ['猫', '黒猫がいる', ['猫']],
    ['ซ่อม', 'ซ่อมกล้องโทรทรรศน์', ['ซ่อม']],
    ['ﬁle', 'a ﬁle and a file', ['ﬁle', 'file']],
    ['to be or not to be', 'to be, or not', ['not']],
    ['to be', 'to be, or not', ['to', 'be']],
    ['?!', 'nothing?!', []],
    ['パイプ', '配管用ﾊﾟｲﾌﾟの図', ['ﾊﾟｲﾌﾟ']],
    ['ガラス', 'ガラスの鏡'.normalize('NFD'), ['ガラス'.normalize('NFD')]],
    ['가', 'ㄱㅏ, 가', ['ㄱㅏ', '가']],
    ['1000', '約１，０００円', ['１，０００']],
    ['kg', '😀 of 5 ㎏, more kg', ['㎏', 'kg']],
    ['ภาษาไทย', 'เรียนภาษาไทย', ['ภาษาไทย']],
    ['Donaudampf', 'der Donau\u00addampf', ['Donau\u00addampf']],
    ['Kubernetes', 'Kubernetes™, kubernetes', ['Kubernetes', 'kubernetes']],
    ['Einstein m2', 'Einstein¹² had 5 m²', ['Einstein', 'm²']],
    ['3', '3½ cups', ['3']],
    ['s', "the keeper's s", ['s']],
  ];
  for (const [query, text, found] of cases)
    it(`of “${query}” in “${text}” are ${JSON.stringify(found)}`, () => {
      expect(marked(query, text)).to.deep.equal(found);
    });

  it('are there if and only if a search by words finds the text, of whatever characters', () => {
    const pieces = [
      ...'É ß İ ı ﬁ ½ ㎏ ™ 日本語 ﾊﾟ ไทยภาษา й ё 😀 𝒜 𠀀 ａｂｃ １，０００ 가 ㄱㅏ ﾡￂ ſ ς Å Ⅳ ² œuvre ’s INV-7 1,000 words'.split(' '),
    ];
    pieces.push('น้ำ', 'ทำ'.normalize('NFKD'), '\u00ad', '\u200b', '\u2060', '\u0301', 'か\u3099', '\ud800', 'e\u0301', ' ', ' ', '-', '.');
    let seed = 7;
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return pieces[seed % pieces.length] as string;
    };
    for (let round = 0; round < 3_000; round++) {
      const [query, text] = [next(), Array.from({ length: 5 }, next).join('')];
      expect(marked(query, text).length > 0, JSON.stringify([query, text])).to.equal(isFound(query, text));
    }
  });
});
