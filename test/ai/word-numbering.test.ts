import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { makeDocx, wordStyles } from './support/make-office.ts';
import { read } from './support/read.ts';

type Level = [form: string, text: string, more?: string];
const levels = (list: Level[]) =>
  list.map(
    ([form, text, more = ''], index) =>
      `<w:lvl w:ilvl="${index}"><w:start w:val="1"/><w:numFmt w:val="${form}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`,
  );
const abstract = (id: number, list: Level[], more = '') =>
  `<w:abstractNum w:abstractNumId="${id}">${more}${levels(list).join('')}</w:abstractNum>`;
const used = (id: number, list: number, more = '') => `<w:num w:numId="${id}"><w:abstractNumId w:val="${list}"/>${more}</w:num>`;
const place = (list: number, level: number) => `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`;
const paragraph = (properties: string, text: string) =>
  `<w:p><w:pPr>${properties}<w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const clause = (list: number, level: number, text: string) => paragraph(place(list, level), text);

async function readList(body: string[], numbering: string[], styles = '') {
  const parts = [{ name: 'word/numbering.xml', content: `<w:numbering>${numbering.join('')}</w:numbering>` }, wordStyles(styles)];
  const bytes = makeDocx(body.join(''), parts);
  const { text, outline } = await read(bytes, types.docx);
  return { lines: text.split('\n\n').slice(0, -1), headings: outline.headings.map(({ title }) => title) };
}

describe('The numbers of a Word document', () => {
  const legal: Level[] = [
    ['decimal', '%1.'],
    ['decimal', '%1.%2'],
    ['lowerLetter', '(%3)'],
  ];

  it('of clauses stand before them, as a reference names them', async () => {
    const body = [
      '<w:p><w:r><w:t>Lease of a boathouse</w:t></w:r></w:p>',
      clause(1, 0, 'Term'),
      clause(1, 1, 'The lease begins in April.'),
      clause(1, 1, 'It may be ended as clause 2.2 says.'),
      clause(1, 0, 'Ending'),
      clause(1, 1, 'The tenant pays until the end.'),
      clause(1, 1, 'Either side may end it with a notice of six weeks.'),
    ];
    expect((await readList(body, [abstract(0, legal), used(1, 0)])).lines).to.deep.equal([
      'Lease of a boathouse',
      '1. Term',
      '1.1 The lease begins in April.',
      '1.2 It may be ended as clause 2.2 says.',
      '2. Ending',
      '2.1 The tenant pays until the end.',
      '2.2 Either side may end it with a notice of six weeks.',
    ]);
  });

  it('begin anew behind a higher level, go on in another list of the same kind, and begin where a list says so', async () => {
    const body = [
      clause(1, 0, 'a'),
      clause(1, 1, 'b'),
      clause(1, 2, 'c'),
      '<w:p><w:r><w:t>between</w:t></w:r></w:p>',
      clause(2, 1, 'd'),
      clause(2, 0, 'e'),
      clause(2, 2, 'f'),
      clause(3, 0, 'g'),
      clause(3, 0, 'h'),
    ];
    const start = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>';
    expect((await readList(body, [abstract(0, legal), used(1, 0), used(2, 0), used(3, 0, start)])).lines).to.deep.equal([
      ...['1. a', '1.1 b', '(a) c', 'between', '1.2 d', '2. e', '(a) f', '7. g', '8. h'],
    ]);
  });

  it('count a paragraph whose end was deleted as one with the next', async () => {
    const gone = '<w:rPr><w:del/></w:rPr>';
    const body = [
      clause(1, 0, 'first'),
      paragraph(place(1, 0) + gone, 'deleted').replace(/<w:r>.*<\/w:r>/, ''),
      clause(1, 0, 'second'),
      paragraph(place(1, 0) + gone, 'third and')
        .replace('t>third', 't xml:space="preserve">third')
        .replace('and<', 'and <'),
      clause(1, 0, 'its end'),
      clause(1, 0, 'fourth'),
    ];
    expect((await readList(body, [abstract(0, legal), used(1, 0)])).lines).to.deep.equal([
      ...['1. first', '2. second', '3. third and its end', '4. fourth'],
    ]);
  });

  it('count a paragraph whose end was moved away, and begin anew in the next cell', async () => {
    const cell = (xml: string) => `<w:tc>${xml}</w:tc>`;
    const moved = paragraph(`${place(1, 0)}<w:rPr><w:moveFrom/></w:rPr>`, 'first');
    const row = `<w:tr>${cell(moved + clause(1, 0, ', its end'))}${cell(moved)}${cell(clause(1, 0, 'third'))}</w:tr>`;
    expect((await readList([`<w:tbl>${row}</w:tbl>`], [abstract(0, legal), used(1, 0)])).lines).to.deep.equal([
      '| 1. first, its end | 2. first | 3. third |',
    ]);
  });

  it('of headings come with their styles, and are part of their titles', async () => {
    const styles = [
      '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>',
      '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/></w:style>',
    ];
    const headings: Level[] = [
      ['upperRoman', 'Part %1:', '<w:pStyle w:val="H1"/>'],
      ['decimal', '%1.%2', '<w:pStyle w:val="H2"/><w:isLgl/>'],
    ];
    const style = (id: string) => `<w:pStyle w:val="${id}"/>`;
    const body = [
      paragraph(style('H1'), 'Rent'),
      paragraph(style('H2'), 'Due'),
      paragraph(style('H1'), 'End'),
      paragraph(style('H2'), 'Notice'),
      paragraph(`${style('H2')}<w:numPr><w:numId w:val="0"/></w:numPr>`, 'Annex'),
    ];
    const { lines, headings: titles } = await readList(body, [abstract(0, headings), used(1, 0)], styles.join(''));
    expect(lines).to.deep.equal(['Part I: Rent', '1.1 Due', 'Part II: End', '2.1 Notice', 'Annex']);
    expect(titles).to.deep.equal(lines);
  });

  it('are shown in the form of their list; bullets have none, and empty paragraphs count', async () => {
    const forms: [string, string, string][] = [
      ['decimalZero', '%1', '01 x|02 y'],
      ['lowerRoman', '%1)', 'i) x|ii) y'],
      ['upperLetter', 'Article %1.', 'Article A. x|Article B. y'],
      ['ordinal', '%1', '1st x|2nd y'],
      ['chineseCountingThousand', '第%1条', '第一条 x|第二条 y'],
      ['russianLower', '%1)', 'а) x|б) y'],
      ['bullet', '', 'x|y'],
      ['none', 'Note', 'Note x|Note y'],
    ];
    for (const [form, text, shown] of forms) {
      const { lines } = await readList([clause(1, 0, 'x'), clause(1, 0, 'y')], [abstract(0, [[form, text]]), used(1, 0)]);
      expect(lines.join('|'), form).to.equal(shown);
    }
    const { lines } = await readList([clause(1, 0, 'x'), clause(1, 0, ''), clause(1, 0, 'y')], [abstract(0, legal), used(1, 0)]);
    expect(lines).to.deep.equal(['1. x', '3. y']);
  });

  it('are those of a list that a style defines, or that is not there', async () => {
    const linked = abstract(0, [], '<w:numStyleLink w:val="Clauses"/>');
    const defined = abstract(5, legal, '<w:styleLink w:val="Clauses"/>');
    expect((await readList([clause(1, 1, 'x'), clause(9, 0, 'y')], [linked, defined, used(1, 0)])).lines).to.deep.equal(['1.1 x', 'y']);
  });
});

describe('The signs of a Word document', () => {
  it('say which boxes are ticked, and keep words and equations apart', async () => {
    const box = (state: string) => `<w:fldChar><w:ffData><w:checkBox><w:default w:val="0"/>${state}</w:checkBox></w:ffData></w:fldChar>`;
    const run = (xml: string) => `<w:r>${xml}</w:r>`;
    const symbol = (font: string, code: string) => run(`<w:sym w:font="${font}" w:char="${code}"/>`);
    const math = (text: string) => `<m:oMath><m:r><m:t>${text}</m:t></m:r></m:oMath>`;
    const body = [
      `<w:p>${run(box('<w:checked/>'))}${run('<w:t>paid</w:t>')}</w:p>`,
      `<w:p>${run(box(''))}${run('<w:t>owed</w:t>')}</w:p>`,
      `<w:p>${symbol('Wingdings', 'F0FE')}${run('<w:t xml:space="preserve"> agreed</w:t>')}${symbol('Symbol', 'F0B7')}</w:p>`,
      `<w:p>${run('<w:t>Total</w:t><w:ptab/><w:t>5</w:t>')}</w:p>`,
      `<w:p><m:oMathPara>${math('a=1')}${math('b=2')}</m:oMathPara></w:p>`,
      `<w:p><m:oMath><m:r><m:t>a</m:t></m:r><m:r><w:sym w:font="Symbol" w:char="F0A3"/></m:r><m:r><m:t>b</m:t></m:r></m:oMath></w:p>`,
      `<w:p><m:oMath><m:r><w:rPr><w:vanish/></w:rPr><m:t>secret</m:t></m:r><m:r><m:t>c=3</m:t></m:r></m:oMath></w:p>`,
    ];
    expect((await readList(body, [])).lines).to.deep.equal(['☒ paid', '☐ owed', '☑ agreed•', 'Total\t5', 'a=1 b=2', 'a≤b', 'c=3']);
  });
});
