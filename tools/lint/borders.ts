import { freeFolders, type Room, rooms } from './rooms.ts';

/** Where the plugin stands that refuses more than types of a room: a name of `types` or `typePackages` begins with it. */
const typePlugins: Record<string, string> = {
  config: './tools/lint/types-from-config.grit',
  contract: './tools/lint/types-from-contract.grit',
  '@ts-rest': './tools/lint/types-from-ts-rest.grit',
};
/** A workflow takes only types from anywhere, which one plugin says for all folders. */
const onlyTypes: Record<string, string> = { workflows: './tools/lint/types-from-other-rooms.grit' };

const seeRooms = 'see tools/lint/rooms.ts.';

/** The linter's configuration of all borders, as `tools/lint/borders.json` holds it. */
export function borderConfiguration(): { overrides: object[] } {
  const overrides = Object.entries(rooms).map(([name, room]) => {
    const inner = Object.keys(rooms).filter((other) => other.startsWith(`${name}/`));
    const includes = [`${name}/**`, `!${name}/main.ts`, `!${name}/start/**`, ...inner.map((other) => `!${other}/**`)];
    const rules = { style: { noRestrictedImports: { level: 'error', options: { patterns: restrictions(name, room) } } } };
    const plugins = pluginsOf(name, room);
    return { includes, linter: { rules }, ...(plugins.length > 0 ? { plugins } : {}) };
  });
  return { overrides };
}

function restrictions(name: string, room: Room): { group: string[]; message: string }[] {
  const packages = [...(room.packages ?? []), ...(room.typePackages ?? [])].flatMap((each) =>
    each === 'node:*' ? [each, `${each}/**`] : each,
  );
  const folders = [...(room.imports ?? []), ...(room.types ?? [])].map((path) => (path.endsWith('.ts') ? `**/${path}` : `**/${path}/**`));
  const anyFolder = new RegExp(`/(${everyFolder.join('|')})/`);
  const allowed = [...folders, ...packages.filter((each) => anyFolder.test(each))];
  return [
    { group: ['**', './**', '../**', ...packages].map(allowing), message: `${name}/ does not use this package: ${seeRooms}` },
    {
      group: [`**/{${everyFolder.join(',')}}/**`, ...allowed].map(allowing),
      message: `${name}/ does not import from there: ${seeRooms}`,
    },
    { group: ['**/main.ts', '**/start/**'], message: 'A main.ts is imported by nobody, and what start/ composes by main.ts alone.' },
  ];
}

const everyFolder = [...Object.keys(rooms), ...freeFolders];

/** The first pattern of a group refuses, all others except. */
function allowing(pattern: string, index: number): string {
  return index === 0 ? pattern : `!${pattern}`;
}

function pluginsOf(name: string, room: Room): string[] {
  const forAll = onlyTypes[name];
  if (forAll) return [forAll];
  return [...(room.types ?? []), ...(room.typePackages ?? [])].map((path) => {
    const plugin = typePlugins[path.split('/')[0] ?? ''];
    if (!plugin) throw new Error(`No plugin sees that ${name}/ takes only types from ${path}.`);
    return plugin;
  });
}
