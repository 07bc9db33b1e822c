import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';

const imported =
  /^\s*(?:import|export)\s(?!type\s)[^;]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)|import\.meta\.resolve\('([^']+)'\)/gm;

/** The packages that a program loads, and its files, from its entries on. */
function walk(entries: string[]): { packages: Set<string>; files: Set<string> } {
  const [packages, files] = [new Set<string>(), new Set(entries)];
  for (const file of files) {
    for (const found of readFileSync(file, 'utf8').matchAll(imported)) {
      const name = found.slice(1).find((one) => one !== undefined) ?? '';
      if (name.startsWith('.')) files.add(join(file, '..', name));
      else if (!isBuiltin(name)) packages.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
    }
  }
  return { packages, files };
}

describe('the image of the AI service', () => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('ai/package.json', 'utf8'));

  it('is installed with every package that the service and its children load', () => {
    const { packages, files } = walk(['ai/main.ts', ...globSync('ai/**/child.ts')]);
    expect(files).to.include('contract/ai-service/openapi.ts');
    expect(Object.keys({ ...dependencies, ...optionalDependencies })).to.include.members([...packages]);
  });

  it('has children that load nothing but what they may read', () => {
    const { files } = walk(globSync('ai/**/child.ts'));
    expect([...files].filter((file) => !/^(?:ai|base\/concurrency|base\/text)\//.test(file))).to.deep.equal([]);
  });
});
