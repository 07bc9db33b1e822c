import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { builtConsole } from '../../support/console-build.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { useApi } from '../../support/use-api.ts';

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('The console', () => {
  let built: string;
  const { api } = useApi({
    async env() {
      built = await builtConsole();
      return { CONSOLE: built, WORKER_ENABLED: 'false' };
    },
  });
  const get = (path: string, headers: Record<string, string> = html) => fetch(`${api.url}${path}`, { headers });

  it('is at every path that nothing else serves, for whoever asks for HTML', async () => {
    for (const path of ['/', '/sign-in', '/o/a/b/documents?status=ready', '/accept-invitation/abc', '/apis', '/documents']) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get('content-type')]).to.deep.equal([path, 200, 'text/html; charset=utf-8']);
      expect(await answer.text()).to.include('<div id="root">');
    }
  });

  it('leaves the other paths and the other clients as they are', async () => {
    for (const path of [
      '/api/v1/nothing',
      '/rpc/nothing',
      '/mcp',
      '/docs/nothing',
      '/uploads/a/b',
      '/assets/nothing.js',
      `/assets/${'a'.repeat(300)}.js`,
      `/assets/${'a/'.repeat(900)}a.js`,
      '/metrics',
      '/healthz/a',
    ])
      expect(await (await get(path)).text(), path).not.to.include('<div id="root">');
    for (const accept of ['application/json', '*/*', 'image/png']) expect((await get('/sign-in', { accept })).status, accept).to.equal(404);
    const posted = await fetch(`${api.url}/sign-in`, { method: 'POST', headers: html });
    expect(posted.status).to.equal(404);
    expect((await get('/docs')).status).to.equal(200);
    expect((await get(`/assets/${'a'.repeat(300)}.js`)).status).to.equal(404);
  });

  it('has a policy without inline scripts, and a nonce of its own in each response', async () => {
    const [one, other] = [await get('/'), await get('/')];
    const policy = one.headers.get('content-security-policy') ?? '';
    const nonce = /'nonce-([\w+/=]+)'/.exec(policy)?.[1] ?? '';
    expect(policy).to.match(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
    expect(policy).to.not.include('unsafe');
    expect(policy).to.include(`connect-src 'self' ${api.url};`);
    expect(other.headers.get('content-security-policy')).not.to.include(nonce);
    expect(one.headers.get('cache-control')).to.equal('private, no-store');
    for (const kind of ['opener', 'resource']) expect(one.headers.get(`cross-origin-${kind}-policy`)).to.equal('same-origin');
    expect(one.headers.get('permissions-policy')).to.include('camera=(), ').and.include('geolocation=(), ');
    const page = await one.text();
    expect(page).to.include(`nonce="${nonce}"`).and.not.include('__NONCE__');
    expect(page.match(/<script(?![^>]* src=)/g)).to.equal(null);
  });

  it('serves its files compressed, for ever', async () => {
    const script = readdirSync(join(built, 'assets')).find((name) => /^index-.*\.js$/.test(name));
    const answer = await get(`/assets/${script}`, { 'accept-encoding': 'br' });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-encoding')).to.equal('br');
    expect(answer.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).to.equal("default-src 'none'; frame-ancestors 'none'");
    const gzip = await get(`/assets/${script}`, { 'accept-encoding': 'gzip, deflate' });
    expect(gzip.headers.get('content-encoding')).to.equal('gzip');
    await gzip.body?.cancel();
    expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
    const plain = await get(`/assets/${script}`, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(await plain.text()).to.equal(await answer.text());
    const [resources] = readdirSync(join(built, 'assets')).filter((name) => name.startsWith('pdfjs-'));
    const wasm = await get(`/assets/${resources}/wasm/openjpeg.wasm`);
    expect([wasm.status, wasm.headers.get('content-type')]).to.deep.equal([200, 'application/wasm']);
    await wasm.body?.cancel();
    for (const path of [
      '/assets/..%2Findex.html',
      '/assets/.%2e',
      '/assets/%00',
      '/assets/',
      `/assets/${resources}`,
      '/assets/a/../../index.html',
    ])
      expect((await get(path, { accept: '*/*' })).status, path).to.be.oneOf([400, 404]);
  });
});

describe('A console that is not built yet', () => {
  let directory: string;
  const { api } = useApi({
    env() {
      directory = join(makeTestDirectory(), 'build');
      return { CONSOLE: directory, WORKER_ENABLED: 'false' };
    },
  });
  after(() => removeTestDirectory(join(directory, '..')));

  it('is a page that says so and looks again, until the build is there', async () => {
    const waiting = await fetch(`${api.url}/`, { headers: html });
    expect([waiting.status, waiting.headers.get('refresh'), waiting.headers.get('retry-after')]).to.deep.equal([503, '2', '2']);
    expect(await waiting.text()).to.include('is being built');
    mkdirSync(`${directory}.part`);
    writeFileSync(join(`${directory}.part`, 'index.html'), 'built');
    renameSync(`${directory}.part`, directory);
    const there = await fetch(`${api.url}/`, { headers: html });
    expect([there.status, await there.text()]).to.deep.equal([200, 'built']);
  });
});

for (const [name, env] of [
  ['CONSOLE=false', { CONSOLE: 'false' }],
  ['another web application', { WEB_URL: 'https://app.example.com' }],
] as const)
  describe(`A service with ${name}`, () => {
    const { api } = useApi({ env: { ...env, WORKER_ENABLED: 'false' } });

    it('has no console, but the pages of the API', async () => {
      expect(await (await fetch(`${api.url}/`, { headers: html })).text()).to.include('This is an API');
      expect((await fetch(`${api.url}/sign-in`, { headers: html })).status).to.equal(404);
    });
  });
