import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const doc = readFileSync('docs/security.md', 'utf8');
const sections = doc.split(/^## /m).slice(1);

describe('docs/security.md', () => {
  it('has a section for each of the ten risks', () => {
    expect(sections.map((section) => section.split(' ')[0])).to.deep.equal(Array.from({ length: 10 }, (_, index) => `API${index + 1}`));
  });

  it('names a test in each row, that is there', () => {
    for (const section of sections) {
      const rows = section.split('\n').filter((line) => /^\| (?!What holds )/.test(line));
      expect(rows, section).to.have.length.above(2);
      for (const row of rows) {
        const [, file = '', title = ''] = /\| `(test\/[\w/.-]+\.test\.ts)`: “(.+)” \|$/.exec(row) ?? [];
        expect(existsSync(file), row).to.equal(true);
        const titles = [...readFileSync(file, 'utf8').matchAll(/\b(?:it|describe|nightly)\(\s*(['"`])(.*?)\1,/gs)].map(
          ([, , text = '']) => text,
        );
        expect(
          titles.some((each) => each.includes(title)),
          `${file} has no test called ${title}`,
        ).to.equal(true);
      }
    }
  });

  it('leads only to pages that there are', () => {
    const links = [...doc.matchAll(/\]\(([^):]+)\)/g)].map(([, path = '']) => join('docs', path.split('#')[0] ?? ''));
    expect(links.filter((path) => !existsSync(path))).to.deep.equal([]);
  });
});
