import { expect } from 'chai';
import { sql } from 'kysely';
import type { Page, Route } from 'playwright-core';
import type { TestUser } from '../../support/api.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { expectOk } from '../../support/requests.ts';
import { staysTrue } from '../../support/stays-true.ts';
import { startDatabaseProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { violationsOf } from './support/axe.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('The console, if something goes wrong', () => {
  const { api, open, tenant } = useConsole({}, { process: true });

  async function addColleague(): Promise<TestUser> {
    const colleague = await api.signUp('Grace Hopper');
    await api.addMember(tenant.organizationId, colleague, 'member');
    return colleague;
  }
  const visit = (page: string, as = tenant.owner, of = tenant) => open(pathOf(of, page), { as });

  it('tells a member who was removed while looking, and leads on', async () => {
    const colleague = await addColleague();
    const { page } = await visit('documents', colleague);
    await page.getByText('No documents yet').waitFor();
    await api.database.db.deleteFrom('member').where('userId', '=', colleague.id).execute();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByText(`You are not a member of ${tenant.slug}.`).waitFor();
    expect(asked.filter((path) => path === '/rpc/organizations/usage').length).to.be.at.most(2);
    await page.getByRole('link', { name: 'Search', exact: true }).click();
    await page.getByRole('heading', { name: `You are not a member of ${tenant.slug}.` }).waitFor();
    await page.getByRole('link', { name: 'Go to your documents' }).click();
    await page.getByRole('heading', { name: 'Set up your organization' }).waitFor();
  });

  it('leads from the address of a workspace to its documents, and says beside its pages that there is nothing at another', async () => {
    const { page } = await visit('');
    await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
    await page.goto(api.url + pathOf(tenant, 'nowhere'));
    await page.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  });

  it('asks whoever has no session any more to sign in, over the page, and loses nothing that was typed', async () => {
    const colleague = await addColleague();
    const { page } = await visit('search', colleague);
    // The session ends with the search itself: before it, another call could open the dialog, which then takes the key.
    const endSession = async (route: Route) => {
      await api.database.db.deleteFrom('session').where('userId', '=', colleague.id).execute();
      await route.continue();
    };
    await page.route('**/documents/search', endSession, { times: 1 });
    await page.getByRole('searchbox').fill('how often are the mirrors washed');
    await page.getByRole('searchbox').press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByRole('textbox', { name: 'Password' }).fill('a wrong password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByText('Invalid email or password').waitFor();
    await dialog.getByRole('textbox', { name: 'Password' }).fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Nothing was found.').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).to.equal('how often are the mirrors washed');
  });

  it('knows who was signed in once a link was pointed at, and shows the next user nothing of them', async () => {
    const other = await api.createTenant();
    const { page } = await visit('workspaces', other.owner, other);
    // It ends as it is read anew: before, another call could open the dialog, which then takes the pointer.
    const endSession = async () => {
      const end = async (route: Route) => {
        await api.database.db.deleteFrom('session').where('userId', '=', other.owner.id).execute();
        await route.continue();
      };
      await page.route('**/api/auth/get-session', end, { times: 1 });
      // What is known of the session is old by now.
      await page.evaluate('{ const now = Date.now; Date.now = () => now() + 61_000; }');
    };
    await page.getByRole('button', { name: 'New workspace' }).waitFor();
    await endSession();
    const isRead = page.waitForResponse('**/api/auth/get-session');
    await page.getByRole('link', { name: 'Jobs' }).hover();
    await isRead;
    await page.getByRole('button', { name: 'New workspace' }).click();
    const create = page.getByRole('dialog', { name: 'New workspace' });
    await create.getByLabel('Name').fill('Field notes');
    await create.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByRole('textbox', { name: 'Password' }).fill(password);
    expect(await dialog.getByLabel('Email address').inputValue()).to.equal(other.owner.email);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await create.getByRole('alert').count()).to.equal(0);
    await create.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('row', { name: /Field notes/ }).waitFor();

    await endSession();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByLabel('Email address').fill(tenant.owner.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(`You are not a member of ${other.slug}.`).waitFor();
  });

  nightly('asks no more by itself what was refused', async () => {
    const other = await api.createTenant();
    const { owner } = other;
    const { id: documentId } = await api.upload(other, { bytes: 'A text.' });
    const { page } = await visit('jobs', owner, other);
    let asked = 0;
    // A document that is newer than any list is looked for every two seconds.
    await page.route('**/rpc/documents/list', (route) => {
      asked += 1;
      return route.fulfill({ json: { json: { items: [], nextCursor: null } } });
    });
    await page.reload();
    await expectOk(api.request('POST', '/api/v1/jobs', { token: owner.token, body: { kind: 'document.extract', documentId } }));
    await api.database.db
      .updateTable('job')
      .set({ created_at: sql`now() + interval '1 hour'` })
      .where('document_id', '=', documentId)
      .execute();
    await until(() => asked >= 3);
    await page.unroute('**/rpc/documents/list');
    page.on('request', (request) => {
      if (request.url().endsWith('/rpc/documents/list')) asked += 1;
    });
    await api.database.db.deleteFrom('session').where('userId', '=', owner.id).execute();
    await page.getByRole('dialog').waitFor();
    const before = asked;
    await staysTrue(() => asked <= before, 5_000);
  });

  it('says in the words of the service what a role may not do, with the id of the request', async () => {
    const colleague = await api.signUp('Grace Hopper');
    await api.addMember(tenant.organizationId, colleague, 'admin');
    const { page } = await visit('audit', colleague);
    await page.getByRole('row').nth(1).waitFor();
    await api.database.db.updateTable('member').set({ role: 'member' }).where('userId', '=', colleague.id).execute();
    await page.getByRole('button', { name: 'Download as CSV' }).click();
    const alert = page.getByRole('main').getByRole('alert');
    await alert.getByText('This needs the permission auditLog:read, which you do not have in this organization.').waitFor();
    await alert.getByText(/^Request [\w-]{8,}/).waitFor();
  });

  it('gets answers on a page without https, too, and offers no copy that would do nothing there', async () => {
    const other = await api.createTenant();
    const colleague = await api.signUp('Grace Hopper');
    await api.addMember(other.organizationId, colleague, 'member');
    const { page } = await visit('ask', colleague, other);
    // What browsers leave out there.
    await page.addInitScript('delete Crypto.prototype.randomUUID; delete Navigator.prototype.clipboard;');
    await page.reload();
    await page.getByLabel('What do you want to know?').fill('How often are the mirrors washed?');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByText('No answer to this question was found in your documents.').waitFor();
    await page.goto(api.url + pathOf(other, `documents/${crypto.randomUUID()}`));
    const alert = page.getByRole('main').getByRole('alert');
    await alert.getByText(/^Request [\w-]{8,}/).waitFor();
    expect(await alert.getByRole('button', { name: /^Request/ }).count()).to.equal(0);
  });

  it('says that webhooks are off, and who turns them on', async () => {
    const { page } = await visit('webhooks');
    await page.getByText('Webhooks are off').waitFor();
    await page.getByText('WEBHOOKS_ENABLED').waitFor();
    expect(await page.getByRole('main').getByRole('alert').count()).to.equal(0);
    expect(await page.getByRole('button', { name: 'New endpoint' }).count()).to.equal(0);
  });

  it('says at once that there were too many requests', async () => {
    const { workspaceId, owner } = tenant;
    const path = `/api/v1/workspaces/${workspaceId}/documents/search`;
    const search = () => api.request('POST', path, { token: owner.token, body: { query: 'a' } });
    await until(async () => (await search()).status === 429);
    const { page } = await visit('search?q=mirrors');
    await page
      .getByRole('main')
      .getByRole('alert')
      .getByText(/too many/i)
      .waitFor();
  });

  it('keeps an upload that lost its connection, says so, and sends it again once that is back', async () => {
    const { page } = await visit('documents');
    await page.getByText('No documents yet').waitFor();
    const network = await networkOf(page);
    await network.slow();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.alloc(4_000_000, 'a') });
    await page.getByText(/^[\d.]+ MB of 4 MB$/).waitFor();
    await network.away();
    await page.getByText('There is no connection.').waitFor();
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.getByRole('button', { name: 'Try again to upload large.txt' }).waitFor();
    await network.back();
    await uploads.getByText('Stored', { exact: true }).waitFor();
    await page.getByText('There is no connection.').waitFor({ state: 'detached' });
    // The upload that broke off stays listed, until it expires.
    await page.getByRole('row', { name: /large\.txt (Stored|Read|Searchable)/ }).waitFor();
  });

  it('stays while the connection is away, and shows a page that was not loaded yet once that is back', async () => {
    const { page } = await visit('jobs');
    const live = page.getByText('Live', { exact: true });
    await live.waitFor();
    await page.evaluate('globalThis.isKept = true');
    await page.context().setOffline(true);
    await live.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByText('There is no connection.').waitFor();
    await staysTrue(async () => (await page.evaluate('globalThis.isKept')) === true, 2_000);
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    expect(await page.evaluate('globalThis.isKept')).to.equal(true);
  });

  it('goes on with uploads and with following jobs after signing in again, and once the connection is back', async () => {
    const colleague = await addColleague();
    const { page } = await visit('documents', colleague);
    await page.getByRole('heading', { name: 'Documents' }).waitFor();
    const endSession = async (route: Route) => {
      await api.database.db.deleteFrom('session').where('userId', '=', colleague.id).execute();
      await route.continue();
    };
    await page.route('**/jobs/stream', endSession, { times: 1 });
    await page.reload();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    const files = Array.from({ length: 5 }, (_, n) => ({
      name: `page ${n}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from(`Page ${n}`),
    }));
    await page.locator('input[type=file]').setInputFiles(files);
    const uploads = page.getByRole('region', { name: 'Uploads', includeHidden: true });
    await until(async () => (await uploads.getByText('Waiting', { exact: true }).count()) >= 5);
    await dialog.getByRole('textbox', { name: 'Password' }).fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await until(async () => (await uploads.getByText('Stored', { exact: true }).count()) === 5);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByText('Live', { exact: true }).waitFor();

    await page.route('**/jobs/stream', (route) => route.abort());
    await page.reload();
    await page.getByText('The live view has stopped.').waitFor();
    await page.unroute('**/jobs/stream');
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('goes on following jobs once the service that was killed is back', async () => {
    const { page } = await visit('jobs');
    await page.getByText('Live', { exact: true }).waitFor();
    await api.stack.kill('api');
    await api.stack.restart('api');
    const body = { kind: 'text.summarize', organizationId: tenant.organizationId, workspaceId: tenant.workspaceId, text: 'One. Two.' };
    const made = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body });
    expect(made.status).to.equal(200);
    await page.getByRole('row', { name: /Summarize a text.*Succeeded/ }).waitFor();
  });

  describe('because the database is away', () => {
    let proxy: TcpProxy;
    before(async () => {
      const through = await startDatabaseProxy(api.database.url);
      proxy = through.proxy;
      await api.stack.restart('api', { DATABASE_URL: through.url });
    });
    after(() => proxy.stop());

    nightly('says so in the words of the service, and shows the page once it is back', async () => {
      const other = await api.createTenant();
      const { page } = await visit('documents', other.owner, other);
      await page.getByText('No documents yet').waitFor();
      await proxy.cut();
      await page.getByRole('link', { name: 'Jobs' }).click();
      const failure = page.getByRole('main').getByRole('alert').filter({ hasText: 'The service is temporarily unavailable.' });
      await failure.first().waitFor();
      await proxy.mend();
      await until(async () => (await fetch(`${api.url}/readyz`)).status === 200);
      await failure.getByRole('button', { name: 'Try again' }).last().click();
      await page.getByText('No jobs yet').waitFor();
      await proxy.cut();
      await page.reload();
      await page.getByRole('alert').waitFor();
      await proxy.mend();
      await until(async () => (await fetch(`${api.url}/readyz`)).status === 200);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('No jobs yet').waitFor();
    });
  });
});

/** The network of a page, as a test wants it: slow to send, away, or as it is. */
async function networkOf(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const set = ({ offline = false, uploadThroughput = -1 }) =>
    session.send('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput });
  return { slow: () => set({ uploadThroughput: 200_000 }), away: () => set({ offline: true }), back: () => set({}) };
}
