import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The build of the console. `npm run dev --workspace web` serves it with an API at port 3000 behind it, and reloads what changes. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  resolve: { alias: { '@sheaf/client': fileURLToPath(new URL('../client/index.ts', import.meta.url)) } },
  // Nothing inline: the API's policy allows scripts only as files.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: 'es2022' },
  // The API puts a fresh one in its place in each response.
  html: { cspNonce: '__NONCE__' },
  server: { port: 5173, proxy: Object.fromEntries(['/api', '/rpc', '/docs', '/uploads'].map((path) => [path, 'http://localhost:3000'])) },
});
