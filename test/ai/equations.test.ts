import { expect } from 'chai';
import { Equation } from '../../ai/formats/office/equation.ts';
import { scanXml } from '../../ai/formats/office/scan-xml.ts';

/** The text of an equation, and in how many pieces it came. */
async function write(xml: string): Promise<{ text: string; pieces: number }> {
  const pieces: string[] = [];
  const equation = new Equation((piece) => pieces.push(piece));
  await scanXml([`<m:oMath>${xml}</m:oMath>`], {
    open: (name, attributes) => equation.open(name, attributes['m:val']),
    close: (name) => equation.close(name),
    text: (text) => equation.add(text),
  });
  return { text: pieces.join(''), pieces: pieces.length };
}

const run = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
const of = (name: string, xml: string) => `<m:${name}>${xml}</m:${name}>`;
const fraction = (above: string, below: string, properties = '') => of('f', properties + of('num', above) + of('den', below));

describe('An equation of an Office document', () => {
  const cases: Record<string, [xml: string, text: string]> = {
    'a fraction': [fraction(run('a+b'), run('2')), '(a+b)/2'],
    'a fraction of words': [fraction(run('km'), run('h')), 'km/h'],
    'a fraction in a fraction': [fraction(fraction(run('1'), run('2')), run('x')), '(1/2)/x'],
    'a binomial coefficient': [fraction(run('n'), run('k'), '<m:fPr><m:type m:val="noBar"/></m:fPr>'), 'n¦k'],
    'powers and indices': [
      of('sSup', of('e', run('c')) + of('sup', run('2'))) + of('sSubSup', of('e', run('x')) + of('sub', run('i')) + of('sup', run('n+1'))),
      'c^2x_i^(n+1)',
    ],
    roots: [of('rad', of('deg', '') + of('e', run('a+b'))) + of('rad', of('deg', run('3')) + of('e', run('x'))), '√(a+b)∛x'],
    'a number beside a fraction': [run('2') + fraction(run('1'), run('2')) + fraction(run('3'), run('4')) + run('5'), '2 1/2 3/4 5'],
    'a number in several runs': [run('1') + run('2'), '12'],
    'a power of a fraction': [of('sSup', of('e', fraction(run('1'), run('2'))) + of('sup', run('n'))), '(1/2)^n'],
    'another root': [of('rad', of('deg', run('n')) + of('e', run('x'))), '√[n]x'],
    'an equation in an equation': [`${run('a')}<m:oMath>${run('b')}</m:oMath>${run('c')}`, 'abc'],
    'names that every object has': [`<toString>${run('a')}</toString><__proto__/>${run('b')}`, 'ab'],
    'a sum with its bounds': [
      of('nary', `<m:naryPr><m:chr m:val="∑"/></m:naryPr>${of('sub', run('i=1'))}${of('sup', run('n'))}${of('e', run('i'))}`),
      '∑_(i=1)^n i',
    ],
    parentheses: [of('d', of('e', run('a+b'))) + of('sSup', of('e', of('d', of('e', run('x')))) + of('sup', run('2'))), '(a+b)(x)^2'],
    'other brackets': [
      of('d', `<m:dPr><m:begChr m:val="["/><m:sepChr m:val=","/><m:endChr m:val="["/></m:dPr>${of('e', run('0'))}${of('e', run('1'))}`),
      '[0,1[',
    ],
    'a function and a limit': [
      of('func', of('fName', of('limLow', of('e', run('lim')) + of('lim', run('n→∞')))) + of('e', run('n'))),
      'lim_(n→∞) n',
    ],
    'a matrix': [of('m', of('mr', of('e', run('1')) + of('e', run('2'))) + of('mr', of('e', run('3')) + of('e', run('4')))), '1 2; 3 4'],
    'equations below each other': [of('eqArr', of('e', run('a=1')) + of('e', run('b=2'))), 'a=1; b=2'],
    'an accent, which is left out': [of('acc', of('e', run('x'))), 'x'],
  };
  for (const [name, [xml, text]] of Object.entries(cases))
    it(`is written as one types it: ${name}`, async () => expect((await write(xml)).text).to.equal(text));

  it('is written in pieces if it is long', async () => {
    const { text, pieces } = await write(fraction(run('a+b '), run('2')).repeat(20_000));
    expect(pieces).to.be.greaterThan(3);
    expect(text.replace(/[()/]/g, '')).to.equal('a+b 2'.repeat(20_000));
  });
});
