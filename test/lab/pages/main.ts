// `npm run pages`: writes the pages that are made from the code.
import { writeFileSync } from 'node:fs';
import { permissionsFile, permissionsPage } from './permissions-page.ts';

writeFileSync(permissionsFile, permissionsPage());
process.stdout.write(`${permissionsFile}\n`);
