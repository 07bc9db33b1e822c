// `npm run borders`: writes what follows from the table in tools/lint/rooms.ts, for the linter and for the reader.
import { readFileSync, writeFileSync } from 'node:fs';
import { borderConfiguration, borderTable, tablePattern } from './borders.ts';

const page = 'docs/decisions/rooms.md';
writeFileSync('tools/lint/borders.json', `${JSON.stringify(borderConfiguration(), undefined, 2)}\n`);
writeFileSync(page, readFileSync(page, 'utf8').replace(tablePattern, borderTable));
