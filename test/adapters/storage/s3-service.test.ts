import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { sql } from 'kysely';
import { S3Storage } from '../../../adapters/storage/s3.ts';
import { sweepLateUploads } from '../../../domain/stored-objects/late-uploads.ts';
import { createCli } from '../../clients/cli/support.ts';
import { createKey } from '../../support/api-keys.ts';
import { createJob } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { useApi } from '../../support/use-api.ts';
import { type S3Server, startS3Server } from './s3-server.ts';

const text = 'Bees keep honey. A hive is inspected every week in spring, when the colony may swarm.';

describe('A service whose documents are in S3', () => {
  let server: S3Server;
  const { api, tenant } = useApi({
    async env() {
      server = await startS3Server();
      return server.env;
    },
    check: 'at the end',
  });
  after(() => server.close());

  const call = (method: string, path: string, body?: unknown) =>
    api.request(method, `/api/v1${path}`, { token: tenant.owner.token, ...(body === undefined ? {} : { body }) });
  const documentsPath = () => `/workspaces/${tenant.workspaceId}/documents?organizationId=${tenant.organizationId}`;
  const pathOf = (id: string) => join(server.directory, tenant.organizationId, id);
  const create = async (size = text.length, fields: object = {}, headers = {}) => {
    const body = { workspaceId: tenant.workspaceId, name: 'Bees & hives.txt', contentType: 'text/plain', size, ...fields };
    return (await api.request('POST', '/api/v1/documents', { token: tenant.owner.token, body, headers })).body;
  };
  const put = async ({ upload }: { upload: { url: string; headers: Record<string, string> } }, body: string) =>
    (await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: Buffer.from(body) })).status;

  it('takes a document from its upload to a search, a download and its deletion', async () => {
    const created = await create();
    const { id } = created.document;
    expect((await call('POST', `/documents/${id}/complete`)).status, 'before the upload').to.equal(412);
    expect(await put(created, text)).to.equal(200);
    const completed = await call('POST', `/documents/${id}/complete`);
    expect(completed.body).to.include({ status: 'ready', size: text.length });

    const job = await createJob(api, tenant, { kind: 'document.index', documentId: id });
    expect(await api.jobIn(tenant.owner.token, job.id, ['succeeded', 'failed'])).to.include({ status: 'succeeded' });
    const found = await call('POST', `/workspaces/${tenant.workspaceId}/documents/search`, { query: 'inspecting a hive', limit: 1 });
    expect(found.body.results[0]).to.include({ documentId: id });

    const { url } = (await call('GET', `/documents/${id}/download-url`)).body;
    const download = await fetch(url);
    expect([download.status, await download.text()]).to.deep.equal([200, text]);
    expect(download.headers.get('content-disposition')).to.match(/^attachment; filename=/);

    expect(readFileSync(pathOf(id), 'utf8')).to.equal(text);
    expect((await call('DELETE', `/documents/${id}`)).status).to.equal(200);
    await until(() => !existsSync(pathOf(id)));
    expect((await fetch(url)).status).to.equal(404);
  });

  it('keeps nothing that comes by the link of an earlier version', async () => {
    const earlier = await create(text.length, {}, { 'idempotency-key': 'earlier' });
    const { id } = earlier.document;
    expect(await put(earlier, text)).to.equal(200);
    expect((await call('POST', `/documents/${id}/complete`)).status).to.equal(200);
    const upload = await create(text.length, { replaces: id });
    expect(await put(upload, text)).to.equal(200);
    expect((await call('POST', `/documents/${upload.document.id}/complete`)).status).to.equal(200);
    await until(async () => (await call('GET', `/documents/${id}`)).body.version === 2);
    await until(() => !existsSync(pathOf(id)));

    const { db } = api.database;
    for (const link of [() => earlier, () => create(text.length, {}, { 'idempotency-key': 'earlier' })]) {
      expect(await put(await link(), text), 'after the deletion').to.equal(200);
      await sql`update late_upload set due_at = now()`.execute(db);
      await sweepLateUploads(db, 100);
      await until(() => !existsSync(pathOf(id)));
    }
    expect(existsSync(pathOf(upload.document.id))).to.equal(true);
  });

  it('takes back a content by `sheaf sync` that was replaced today, and keeps nothing else of it', async () => {
    const { token } = await createKey(api, tenant);
    const cli = createCli({ SHEAF_URL: api.url, SHEAF_API_KEY: token });
    const file = join(cli.directory, 'folder', 'a.md');
    mkdirSync(dirname(file));
    for (const [index, content] of ['One.', 'Two!', 'One.', 'Two!'].entries()) {
      writeFileSync(file, content);
      const { code, stderr } = await cli.run(['sync', dirname(file), '--workspace', tenant.workspaceId]);
      expect(code, stderr).to.equal(0);
      const named = async () => (await call('GET', documentsPath())).body.items.filter(({ name }: { name: string }) => name === 'a.md');
      await until(async () => (await named())[0].version === index + 1, 10_000);
      const { url } = (await call('GET', `/documents/${(await named())[0].id}/download-url`)).body;
      expect(await (await fetch(url)).text()).to.equal(content);
    }
    cli.remove();
    const { db } = api.database;
    await sql`update late_upload set due_at = now()`.execute(db);
    await sweepLateUploads(db, 100);
    const rows = await db.selectFrom('document').select('object_key').execute();
    await until(() => readdirSync(join(server.directory, tenant.organizationId)).length === rows.length);
  });

  it('refuses and deletes an object that came there in another way and is too large', async () => {
    const created = await create(3);
    const key = `${tenant.organizationId}/${created.document.id}`;
    await new S3Storage(server.options).write(key, Readable.from([Buffer.from(text)]));
    const completed = await call('POST', `/documents/${created.document.id}/complete`);
    expect([completed.status, completed.body.code]).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
    expect(existsSync(pathOf(created.document.id))).to.equal(false);
  });

  it('serves no bytes itself, and tells the operator where they are', async () => {
    expect((await fetch(`${api.url}/uploads/${tenant.organizationId}/document`)).status).to.equal(404);
    await api.makePlatformAdmin(tenant.owner);
    expect((await call('GET', '/admin/system')).body.storage).to.deep.equal({
      driver: 'bucket',
      location: 'documents',
      maxUploadBytes: 26_214_400,
    });
  });
});
