import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { expect } from 'chai';

const imported = /(?:from|import\()\s*'([^'.][^']*)'/g;

/** The packages that the files of a folder import. */
function importsOf(folder: string): Set<string> {
  const files = globSync(`${folder}/**/*.{ts,tsx}`, { exclude: ['**/node_modules/**', '**/dist/**'] });
  const names = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(imported)].map(([, name = '']) => name));
  return new Set(names.filter((name) => !isBuiltin(name)).map((name) => /^(?:@[^/]+\/)?[^/?]+/.exec(name)?.[0] ?? name));
}

// Images and releases install one workspace alone: what only another one brings is absent there.
describe('A workspace of this repository', () => {
  for (const folder of ['ai', 'clients/typescript', 'clients/web', 'contract']) {
    it(`${folder} declares every package that it imports`, () => {
      const { name, ...declares } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
      const kinds = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];
      const declared = [name, ...kinds.flatMap((kind) => Object.keys(declares[kind] ?? {}))];
      const found = importsOf(folder);
      expect(found.size).to.be.above(2);
      expect([...found].filter((each) => !declared.includes(each))).to.deep.equal([]);
    });
  }
});
