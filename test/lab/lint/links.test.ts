import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

const pages = globSync(['**/*.md', '.github/**/*.md'], { exclude: ['**/node_modules/**'] });

describe('The links of the pages', () => {
  it('lead to pages that exist, and to sections that they have', () => {
    expect(pages.length).to.be.greaterThan(20);
    const links = pages.flatMap((page) => linksOf(page));
    expect(links.filter(({ section }) => section !== '').length).to.be.greaterThan(3);
    const broken = links.filter(({ target, section }) => !existsSync(target) || (section !== '' && !sectionsOf(target).has(section)));
    expect(broken.map(({ page, target, section }) => `${page}: ${target}#${section}`)).to.deep.equal([]);
  });

  it('go with names of files that exist', () => {
    const files = globSync('**/*.{ts,tsx,sql}', { exclude: ['**/node_modules/**'] });
    // The tutorial names a file that its reader makes.
    const named = pages.filter((page) => !page.endsWith('tutorial.md')).flatMap((page) => filesNamedIn(page));
    expect(named.length).to.be.greaterThan(50);
    expect(named.filter(({ name }) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).to.deep.equal([]);
  });

  it('name a section as the page shows it', () => {
    expect([...sectionsOfText('# One `code`, two\n## A: [link](x.md) & B_c\n```\n# none\n```\n### One code, two\n')]).to.deep.equal([
      'one-code-two',
      'a-link--b_c',
      'one-code-two-1',
    ]);
  });
});

/** The links of a page to files of this repository, with the name of a section or none. */
function linksOf(page: string): { page: string; target: string; section: string }[] {
  const prose = withoutCode(readFileSync(page, 'utf8')).replace(/`[^`]*`/g, '');
  return [...prose.matchAll(/\]\((?![a-z]+:)([^()\s#]*)(?:#([^()\s]*))?\)/gi)].map(([, path = '', section = '']) => {
    return { page, target: path === '' ? page : normalize(join(dirname(page), path)), section };
  });
}

/** The files of the code that a page names with their folder, such as `domain/locks.ts`. */
function filesNamedIn(page: string): { page: string; name: string }[] {
  const names = readFileSync(page, 'utf8').matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:tsx?|sql))`/g);
  return [...names].map(([, name = '']) => ({ page, name }));
}

function sectionsOf(page: string): Set<string> {
  return page.endsWith('.md') ? sectionsOfText(readFileSync(page, 'utf8')) : new Set();
}

/** The names of the headings of a page, as GitHub makes them: a heading that comes again has a number. */
function sectionsOfText(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} +(.*)$/gm)) {
    const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const name = shown
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-');
    let [unique, count] = [name, 0];
    while (names.has(unique)) unique = `${name}-${++count}`;
    names.add(unique);
  }
  return names;
}

function withoutCode(text: string): string {
  return text.replace(/^ *```.*?^ *```$/gms, '');
}
