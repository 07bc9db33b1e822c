import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

/** What the client imports, and what that imports, by the names they use. */
const packages = [
  '@orpc/client',
  '@orpc/client/fetch',
  '@orpc/shared',
  '@orpc/standard-server',
  '@orpc/standard-server/batch',
  '@orpc/standard-server-fetch',
  'radash',
];
const modules = resolve('node_modules');

/** Serves an empty page that can `import('@sheaf/client')`, built as its package is and not bundled. */
export async function startPageServer(): Promise<{ origin: string; stop(): Promise<void> }> {
  const built = makeTestDirectory();
  await promisify(execFile)(resolve('node_modules/.bin/tsc'), ['-p', 'clients/typescript/tsconfig.build.json', '--outDir', built]);
  const imports: Record<string, string> = { '@sheaf/client': '/clients/typescript/index.js' };
  for (const name of packages) imports[name] = `/modules/${fileURLToPath(import.meta.resolve(name)).slice(modules.length + 1)}`;
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const server = createServer((req, res) => {
    const path = req.url ?? '/';
    if (path === '/') return void res.setHeader('Content-Type', 'text/html').end(page);
    const file = path.startsWith('/modules/') ? join(modules, path.slice('/modules/'.length)) : join(built, path);
    try {
      res.setHeader('Content-Type', 'text/javascript').end(readFileSync(file));
    } catch {
      res.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      removeTestDirectory(built);
    },
  };
}
