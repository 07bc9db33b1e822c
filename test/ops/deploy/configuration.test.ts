import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { secretVariables } from '../../../base/config/secret-files.ts';
import { variables } from '../../../base/config/variables.ts';

const known = new Set(Object.values(variables).flat());

/** The variables in the first columns of a document's tables. */
function documented(path: string): string[] {
  const cells = readFileSync(path, 'utf8').matchAll(/^\| (`[A-Z][^|]*) \|/gm);
  return [...cells].flatMap(([, cell = '']) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name));
}

describe('The documented configuration', () => {
  it('is complete', () => {
    expect(documented('docs/configuration.md')).to.include.members([...known]);
  });

  it('lists the secrets that may be kept in files', () => {
    const [section = ''] = /^## Secrets in files$.*?\.$/ms.exec(readFileSync('docs/configuration.md', 'utf8')) ?? [];
    const names = [...section.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name);
    expect(names).to.have.members([...secretVariables]);
  });

  for (const path of ['docs/configuration.md', 'README.md'])
    it(`has nothing in ${path} that no program reads`, () => {
      expect(documented(path)).not.to.deep.equal([]);
      expect(documented(path).filter((name) => !known.has(name))).to.deep.equal([]);
    });
});
