// `node clients/web/main.ts <directory>`: builds the console into it. `node clients/web/main.ts --cached <directory>`: below it, unless it is there.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildConsole, buildDirectory, removeOldBuilds } from './build.ts';

// Whoever starts this may be a test: a build is always the one that users get.
process.env.NODE_ENV = 'production';
const [first = 'clients/web/dist', parent] = process.argv.slice(2);
if (first === '--cached' && parent !== undefined) {
  await buildConsole(buildDirectory(parent));
  removeOldBuilds(parent);
} else {
  rmSync(resolve(first), { recursive: true, force: true });
  await buildConsole(resolve(first));
}
