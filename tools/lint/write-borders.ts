// `npm run borders`: writes the linter's rules from the table in tools/lint/rooms.ts.
import { writeFileSync } from 'node:fs';
import { borderConfiguration } from './borders.ts';

writeFileSync('tools/lint/borders.json', `${JSON.stringify(borderConfiguration(), undefined, 2)}\n`);
