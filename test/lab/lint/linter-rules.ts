import { freeFolders, type ImportRule, importRules } from './import-rules.ts';

/** Where the plugin stands that refuses more than types of a folder: a name of `types` or `typePackages` begins with it. */
const typePlugins: Record<string, string> = {
  'base/config': './test/lab/lint/types-from-config.grit',
  contract: './test/lab/lint/types-from-contract.grit',
  '@ts-rest': './test/lab/lint/types-from-ts-rest.grit',
};
/** A workflow takes only types from almost anywhere, which one plugin says for all folders. */
const onlyTypes: Record<string, string> = { workflows: './test/lab/lint/types-from-other-folders.grit' };

const seeTable = 'see test/lab/lint/import-rules.ts.';

/** The linter's configuration of all import rules, as `test/lab/lint/import-rules.json` holds it. */
export function linterRules(): { overrides: object[] } {
  const overrides = Object.entries(importRules).map(([name, rule]) => {
    const includes = [`${name}/**`, `!${name}/main.ts`, `!${name}/start/**`, ...innerFolders(name).map((other) => `!${other}/**`)];
    const rules = { style: { noRestrictedImports: { level: 'error', options: { patterns: restrictions(name, rule) } } } };
    const plugins = pluginsOf(name, rule);
    return { includes, linter: { rules }, ...(plugins.length > 0 ? { plugins } : {}) };
  });
  return { overrides };
}

function innerFolders(name: string): string[] {
  return Object.keys(importRules).filter((other) => other.startsWith(`${name}/`));
}

function restrictions(name: string, rule: ImportRule): { group: string[]; message: string }[] {
  const packages = [...(rule.packages ?? []), ...(rule.typePackages ?? [])].flatMap((each) =>
    each === 'node:*' ? [each, `${each}/**`] : each,
  );
  const folders = [...(rule.imports ?? []), ...(rule.types ?? [])].flatMap(waysTo);
  const refused = [...everyFolder, ...innerFolders(name).map(lastPart)];
  const anyFolder = new RegExp(`/(${refused.join('|')})/`);
  const allowed = [...folders, ...packages.filter((each) => anyFolder.test(each))];
  return [
    { group: ['**', './**', '../**', ...packages].map(allowing), message: `${name}/ does not use this package: ${seeTable}` },
    {
      group: [`**/{${refused.join(',')}}/**`, ...allowed].map(allowing),
      message: `${name}/ does not import from there: ${seeTable}`,
    },
    { group: ['**/main.ts', '**/start/**'], message: 'A main.ts is imported by nobody, and what start/ composes by main.ts alone.' },
  ];
}

const everyFolder = [...new Set(Object.keys(importRules).map((name) => name.split('/')[0] ?? '')), ...freeFolders];

/** How an import may name a folder or a file of the table: the folder inside an outer one also by itself. */
function waysTo(path: string): string[] {
  const names = path in importRules ? [path, lastPart(path)] : [path];
  return [...new Set(names)].map((name) => (name.endsWith('.ts') ? `**/${name}` : `**/${name}/**`));
}

function lastPart(path: string): string {
  return path.split('/').at(-1) ?? '';
}

/** The first pattern of a group refuses, all others except. */
function allowing(pattern: string, index: number): string {
  return index === 0 ? pattern : `!${pattern}`;
}

function pluginsOf(name: string, rule: ImportRule): string[] {
  const forAll = onlyTypes[name];
  if (forAll) return [forAll];
  return [...(rule.types ?? []), ...(rule.typePackages ?? [])].map((path) => {
    const [, plugin] = Object.entries(typePlugins).find(([from]) => path === from || path.startsWith(`${from}/`)) ?? [];
    if (!plugin) throw new Error(`No plugin sees that ${name}/ takes only types from ${path}.`);
    return plugin;
  });
}
