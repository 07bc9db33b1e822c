// `npm run import-rules`: writes the linter's rules from the table in test/lab/lint/import-rules.ts.
import { writeFileSync } from 'node:fs';
import { linterRules } from './linter-rules.ts';

writeFileSync('test/lab/lint/import-rules.json', `${JSON.stringify(linterRules(), undefined, 2)}\n`);
