import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { makeOdt } from './support/make-office.ts';
import { read } from './support/read.ts';

const level = (at: number, form: string, more = '') =>
  `<text:list-level-style-number text:level="${at}" style:num-format="${form}" ${more}/>`;
const style = (name: string, ...levels: string[]) => `<text:list-style style:name="${name}">${levels.join('')}</text:list-style>`;
const list = (attributes: string, ...items: string[]) => `<text:list ${attributes}>${items.join('')}</text:list>`;
const item = (...content: string[]) => `<text:list-item>${content.join('')}</text:list-item>`;
const from = (start: number, ...content: string[]) => item(...content).replace('>', ` text:start-value="${start}">`);
const p = (text: string) => `<text:p text:style-name="Standard">${text}</text:p>`;
const h = (at: number, text: string, more = '') => `<text:h text:outline-level="${at}" ${more}>${text}</text:h>`;

async function readList(body: string[], styles: string, office = '', footer = '') {
  const pages = `<office:master-styles><style:master-page><style:footer>${footer}</style:footer></style:master-page></office:master-styles>`;
  const content = `<office:document-styles><office:styles>${office}</office:styles>${pages}</office:document-styles>`;
  const more = [{ name: 'styles.xml', content }];
  const bytes = makeOdt(body.join(''), '', styles, more);
  const { text, outline } = await read(bytes, types.odt);
  return { lines: text.split('\n\n'), headings: outline.headings.map(({ title }) => title) };
}

// The expected numbers are those that LibreOffice 7.4 shows of the same documents.
describe('The numbers of an OpenDocument text', () => {
  const dot = 'style:num-suffix="."';
  const clauses = style(
    'L1',
    level(1, '1', dot),
    level(2, '1', `${dot} text:display-levels="2"`),
    level(3, 'a', 'style:num-prefix="(" style:num-suffix=")"'),
    '<text:list-level-style-bullet text:level="4" text:bullet-char="•"/>',
  );
  const l1 = 'text:style-name="L1"';

  it('of clauses stand before them, one for each item; bullets have none', async () => {
    const deep = list('', item(p('from the dry store'), list('', item(p('swept')))), item(p('from the cold store')));
    const body = [
      p('Terms of the seed bank'),
      list(
        l1,
        item(p('Loans'), list('', item(p('Seed is lent'), deep), item(p('Two for one comes back'), p('by autumn, see 1.1')))),
        item(p(''), list('', item(p('Fees')))),
        '<text:list-header><text:p>Of members</text:p></text:list-header>',
        item(p('Ends'), list('', item(p('x'))), p('between'), list('', item(p('y')))),
      ),
    ];
    expect((await readList(body, clauses)).lines).to.deep.equal([
      'Terms of the seed bank',
      '1. Loans',
      '1.1. Seed is lent',
      '(a) from the dry store',
      'swept',
      '(b) from the cold store',
      '1.2. Two for one comes back',
      'by autumn, see 1.1',
      '2.1. Fees',
      'Of members',
      '3. Ends',
      '3.1. x',
      'between',
      '3.1. y',
    ]);
  });

  it('begin anew with each list, unless it goes on with another, or an item says where', async () => {
    const body = [
      list(`${l1} xml:id="a"`, item(p('a')), item(p('b'))),
      list(l1, item(p('c'))),
      list(`${l1} text:continue-numbering="true"`, item(p('d'))),
      list(`${l1} text:continue-list="a"`, item(list('', item(p('e')))), item(p('f'))),
      list(l1, from(9, p('g')), item(p('h'))),
      list(l1, item(list('', item(p('i')), item(p('j')))), item(p('k'))),
    ];
    const shown = ['1. a', '2. b', '1. c', '2. d', '2.1. e', '3. f', '9. g', '10. h', '1.1. i', '1.2. j', '2. k'];
    expect((await readList(body, clauses)).lines).to.deep.equal(shown);
  });

  it('of headings come with their levels, and are part of their titles', async () => {
    const outline = `<text:outline-style style:name="Outline">${[
      level(1, 'I', 'style:num-prefix="Part " style:num-suffix=":"'),
      level(2, '1', 'text:display-levels="2"'),
      level(3, ''),
    ].join('')}</text:outline-style>`.replaceAll('list-level', 'outline-level');
    const plain =
      '<style:style style:name="P" style:family="paragraph" style:list-style-name=""/><style:style style:name="Q" style:family="paragraph" style:parent-style-name="P"/>';
    const body = [
      h(1, 'Soil'),
      h(2, 'Sand'),
      h(3, 'Grain'),
      h(1, 'Preface', 'text:is-list-header="true"'),
      h(1, 'Annex', 'text:style-name="Q"'),
      h(1, 'Water'),
      h(2, '<text:number>II.1</text:number>Rain'),
      h(1, 'Air', 'text:restart-numbering="true" text:start-value="7"'),
      list('text:style-name="Outline"', item(list('', item(h(2, 'Wind'))))),
    ];
    const { lines, headings } = await readList(body, plain, outline);
    expect(lines).to.deep.equal([
      ...['Part I: Soil', 'I.1 Sand', 'Grain', 'Preface', 'Annex', 'Part II: Water', 'II.1 Rain', 'Part VII: Air', 'VII.1 Wind'],
    ]);
    expect(headings).to.deep.equal(lines);
  });

  it('are none of the lists in headers and footers', async () => {
    const outline = `<text:outline-style>${level(1, '1').replace('list-level', 'outline-level')}</text:outline-style>`;
    const body = [p('Minutes'), h(1, 'Budget'), list(l1, item(p('first')))];
    const { lines } = await readList(body, clauses, outline, `<style:header>${list(l1, item(p('Company')))}</style:header>`);
    expect(lines).to.deep.equal(['Company', 'Minutes', '1 Budget', '1. first']);
  });

  it('are read in time and stay short, however many levels or signs a hostile style names', async () => {
    const signs = 'x'.repeat(197);
    for (const [more, shown] of [
      ['text:display-levels="999999999"', '1 a'],
      [`loext:num-list-format="%1%${signs}${'y'.repeat(100_000)}"`, `1${signs} a`],
    ]) {
      const work = async () => {
        const { lines } = await readList([list('text:style-name="N"', item(p('a')))], style('N', level(1, '1', more)));
        expect(lines).to.deep.equal([shown]);
      };
      expect(await processorSeconds(work), more).to.be.below(1);
    }
  });

  it('are shown in the form of their list', async () => {
    const forms: [form: string, more: string, shown: string][] = [
      ['a', '', 'a) x|ab) y'],
      ['A', 'style:num-letter-sync="true"', 'A) x|BB) y'],
      ['i', '', 'i) x|xxviii) y'],
      ['1st', '', '1st) x|28th) y'],
      ['01, 02, 03, ...', '', '01) x|28) y'],
      ['一, 二, 三, ...', '', '一) x|二十八) y'],
      ['А, Б, .., Аа, Аб, ... (ru)', '', 'А) x|Ю) y'],
      ['1', 'loext:num-list-format="Article %1%:"', 'Article 1: x|Article 28: y'],
    ];
    for (const [form, more, shown] of forms) {
      const body = [list('text:style-name="F"', item(p('x')), from(28, p('y')))];
      const { lines } = await readList(body, style('F', level(1, form, `style:num-suffix=")" ${more}`)));
      expect(lines.join('|'), form).to.equal(shown);
    }
  });

  it('leave out the levels that have none', async () => {
    const formats = ['', 'loext:num-list-format="%1%.%2%-%3%)"'];
    const shown = ['. a|1. b|1.1. c', '. a|1. b|1-1) c'];
    for (const [index, format] of formats.entries()) {
      const third = `${dot} text:display-levels="3" ${format}`;
      const styles = style('N', level(1, '', dot), level(2, '1', `${dot} text:display-levels="2"`), level(3, '1', third));
      const body = [list('text:style-name="N"', item(p('a'), list('', item(p('b'), list('', item(p('c')))))))];
      expect((await readList(body, styles)).lines.join('|')).to.equal(shown[index]);
    }
  });

  it('within a box of text, a table and a list of another style are their own', async () => {
    const box = `<draw:frame><draw:text-box>${list(l1, item(p('in the box')))}</draw:text-box></draw:frame>`;
    const cell = (more: string, text: string) => `<table:table-cell>${list(`${l1} ${more}`, item(p(text)))}</table:table-cell>`;
    const row = cell('', 'c') + cell('text:continue-numbering="true"', 'd');
    const other = style('L2', level(1, 'A', dot), level(2, 'i', `${dot} text:display-levels="2"`));
    const body = [
      list(l1, item(p(`a${box}`), list('text:style-name="L2"', item(p('inner')))), item(p('b'))),
      `<table:table><table:table-row>${row}</table:table-row></table:table>`,
    ];
    expect((await readList(body, clauses + other)).lines).to.deep.equal(['1. a', '1. in the box', 'A.i. inner', '2. b', '| 1. c | 2. d |']);
  });
});
