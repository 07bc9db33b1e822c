import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const pages = globSync(['*.md', 'docs/**/*.md', '.github/**/*.md', 'clients/{python,typescript}/*.md'], { exclude: ['docs/examples/**'] });
const longest = 120;

describe('The pages', () => {
  it('have lines that fit a screen, but for tables and code', () => {
    const long = pages.flatMap((page) => {
      const prose = readFileSync(page, 'utf8').replace(/^ *```.*?^ *```$/gms, (block) => block.replace(/[^\n]/g, ''));
      const tooLong = (line: string) => line.length > longest && !/^\s*\|/.test(line) && line.replace(/`[^`]*`/g, '').length > longest / 2;
      return prose.split('\n').flatMap((line, index) => (tooLong(line) ? [`${page}:${index + 1}`] : []));
    });
    expect(pages.length).to.be.greaterThan(20);
    expect(long).to.deep.equal([]);
  });
});
