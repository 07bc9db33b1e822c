import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The build of the console. `npm run dev --workspace clients/web` serves it with an API at port 3000 behind it, and reloads what changes. */
export default defineConfig({
  root: here('.'),
  plugins: [react(), pdfResources()],
  resolve: { alias: { '@sheaf/client': here('../typescript/index.ts') } },
  // Nothing inline: the API's policy allows scripts only as files.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rollupOptions: { input: [here('index.html'), here('original.html')] },
  },
  // The API puts a fresh one in its place in each response.
  html: { cspNonce: '__NONCE__' },
  // The frame of originals comes from the API too, which gives it its policy.
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ['/api', '/rpc', '/docs', '/uploads', '/original.html', '/assets'].map((path) => [path, 'http://localhost:3000']),
    ),
  },
});

/** What PDFs refer to without bringing it along: fonts, tables of letters, decoders of pictures. pdf.js loads them when a file needs them. */
function pdfResources(): Plugin {
  const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    name: 'pdf-resources',
    generateBundle() {
      for (const file of globSync('{cmaps,iccs,standard_fonts,wasm}/*', { cwd: root }))
        this.emitFile({ type: 'asset', fileName: `assets/pdfjs-${version}/${file}`, source: readFileSync(join(root, file)) });
    },
  };
}
