import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { textOf } from './support/read.ts';

const fonts = String.raw`{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset2{\*\panose 05000000000000000000}Wingdings;}{\f2\froman\fcharset2 Symbol{\*\falt Arial};}{\f3\fcharset238 Arial CE;}}`;

const read = (rtf: string) => textOf(rtf, types.rtf);

async function linesOf(...paragraphs: string[]): Promise<string[]> {
  const text = await read(String.raw`{\rtf1\ansi\ansicpg1252\deff0${fonts}${paragraphs.map((one) => `${one}\\par\n`).join('')}}`);
  return text.split('\n\n');
}

const field = (name: string, form: string, result = '') =>
  String.raw`{\field\flddirty{\*\fldinst { ${name} {\*\datafield 80000000}{\*\formfield{${form}{\*\ffname N}}}}}{\fldrslt {${result}}}}`;

describe('A text in an RTF document that is there twice', () => {
  it('is the one in Unicode', async () => {
    expect(await linesOf(String.raw`\uc2 Name: {\upr{ansi ANSI}{\*\ud{uni \u931?NI}}} end`)).to.deep.equal(['Name: uni ΣNI end']);
  });
});

describe('A form in an RTF document', () => {
  it('has its values: text, boxes and choices', async () => {
    const box = (state: string) => field('FORMCHECKBOX', String.raw`\fftype1\ffownhelp0${state}\ffhps20`);
    const choices = String.raw`{\*\ffl North Quay}{\*\ffl S\'fcd \u8211-Kai}{\*\ffl \f3 \'8elut\'fd}`;
    const list = (state: string, result = '') => field('FORMDROPDOWN', String.raw`\fftype2${state}\ffhaslistbox${choices}`, result);
    const shown = await linesOf(
      `Keeper: ${field('FORMTEXT', String.raw`\fftype0{\*\ffdeftext nobody}`, String.raw`Ada \'d6berg`)} (signed)`,
      `${box(String.raw`\ffres1\ffdefres0`)}fed`,
      `${box(String.raw`\ffres0\ffdefres1`)}moved`,
      `${box(String.raw`\ffres25\ffdefres1`)}treated`,
      `Landing: ${list(String.raw`\ffres1\ffdefres0`)}`,
      `Landing: ${list(String.raw`\ffres25\ffdefres2`)}`,
      `Landing: ${list(String.raw`\ffres1`, 'North Quay')}`,
      String.raw`{\v unseen ${box(String.raw`\ffres1`)}}See {\field{\*\fldinst HYPERLINK "http://example.com"}{\fldrslt here}}.`,
    );
    expect(shown).to.deep.equal([
      'Keeper: Ada Öberg (signed)',
      '☒ fed',
      '☐ moved',
      '☒ treated',
      'Landing: Süd –Kai',
      'Landing: Žlutý',
      'Landing: North Quay',
      'See here.',
    ]);
  });

  it('has no choices without its field, and the word for one in the midst of the text hides nothing', async () => {
    expect(await read(String.raw`{\rtf1 Landing: {\*\ffl North Quay}{\ffl South Quay}east}`)).to.equal('Landing: east');
    expect(await read(String.raw`{\rtf1 Landing:\ffl  east\par of here}`)).to.equal('Landing: east\n\nof here');
  });

  it('is read in time if it goes on behind the end of its document', async () => {
    const behind = 'x}'.repeat(60_000);
    const seconds = await processorSeconds(async () => {
      expect(await read(String.raw`{\rtf1}\field\fftype1 ${behind}`)).to.have.length(60_000);
    });
    expect(seconds).to.be.below(1);
  });
});

describe('The signs of an RTF document', () => {
  it('are those that their fonts show', async () => {
    const shown = await linesOf(
      String.raw`{\listtext\f2\'b7\tab}Angle {\f2 a}, 3 {\f2\'a3} 4`,
      String.raw`{\f1\'fe} agreed {\f1\u-3928?} not {\f1 \'fc\'a8}`,
      String.raw`caf\'e9 {\field{\*\fldinst SYMBOL 254 \\f "Wingdings"}{\fldrslt\f1\'fe}}`,
    );
    expect(shown).to.deep.equal(['•\tAngle α, 3 ≤ 4', '☑ agreed ☐ not ✓☐', 'café ☑']);
    const letters = await linesOf(String.raw`{\f2\u945?\u8226?\u8217?} {\f2\u97?\u-3999?\u-3854?\'f2\'a0} {\f2\u-8095?}`);
    expect(letters).to.deep.equal(['α•’ αα∫∫€']);
  });
});
