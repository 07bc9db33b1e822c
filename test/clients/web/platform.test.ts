import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { noteDown } from '../../../domain/outages/note-down.ts';
import type { TestUser } from '../../support/api.ts';
import { until } from '../../support/processes.ts';
import { violationsOf } from './support/axe.ts';
import { act } from './support/row-menu.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The pages of platform admins in the console', () => {
  const { api, open, tenant } = useConsole({ WORKER_ENABLED: 'false', TEMPORAL_UI_URL: 'http://temporal.example.com' });
  let admin: TestUser;
  let jobId: string;

  before(async () => {
    admin = await api.signUp('Platform Admin');
    await api.makePlatformAdmin(admin);
    const { organizationId, workspaceId, owner } = tenant;
    const body = { kind: 'text.summarize', organizationId, workspaceId, text: 'One. Two.' };
    jobId = (await api.request('POST', '/api/v1/jobs', { token: owner.token, body })).body.id;
    const past = new Date(Date.now() - 3_600_000);
    await api.database.db.updateTable('job').set({ created_at: past }).where('id', '=', jobId).execute();
  });

  const visit = async (path: string, as = admin) => open(path, { as });

  it('show how the deployment is doing, and what is stuck and why', async () => {
    const { page: first } = await visit('/admin');
    await first.getByRole('heading', { name: 'System', exact: true }).waitFor();
    await first.goto(`${api.url}/admin/nowhere`);
    await first.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor();
    expect(await violationsOf(first)).to.deep.equal([]);
    const { page, complaints } = await visit('/admin/system');
    await page.getByRole('heading', { name: 'Database' }).waitFor();
    await page.getByText(/migrations applied/).waitFor();
    const row = page.getByRole('row', { name: /queued job/ });
    await row.getByText(/is a worker running\?|has not taken/).waitFor();
    const link = row.getByRole('link', { name: `See the workflow of job ${jobId}` });
    const { namespace } = api.temporal;
    expect(await link.getAttribute('href')).to.equal(`http://temporal.example.com/namespaces/${namespace}/workflows/job-${jobId}`);
    expect(complaints).to.deep.equal([]);
  });

  it('show what is down and how many jobs wait for it, and let them go on', async () => {
    const { db } = api.database;
    await noteDown(db, { part: 'chat', cause: 'quota' }, { isProbe: false, probeDelaysMs: [3_600_000] });
    await db
      .updateTable('job')
      .set({ waits_for: 'chat', waiting_since: new Date(), next_attempt_at: new Date(Date.now() + 3_600_000) })
      .where('id', '=', jobId)
      .execute();
    const { page, complaints } = await visit('/admin/system');
    await page.getByRole('row', { name: /^Provider of chat Its credit is used up\. .* 1 Let jobs go on/ }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Let jobs go on that wait: Provider of chat' }).click();
    await page.getByText('Nothing is known to be down.').waitFor();
    expect(await db.selectFrom('provider_outage').select('part').execute()).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it('find organizations and users by a part of their names, and keep that in the address', async () => {
    const { page } = await visit('/admin/organizations');
    await page.getByRole('searchbox').fill(tenant.slug);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('row', { name: new RegExp(tenant.organizationId) }).waitFor();
    await page.reload();
    await until(async () => (await page.getByRole('row').count()) === 2);
    await act(page, /./, 'Suspend');
    await page.getByLabel('Reason').fill('The invoice is not paid.');
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('The invoice is not paid.').waitFor();
    const { page: seen } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    await seen.getByRole('status').getByText('The invoice is not paid.').waitFor();
    expect(await violationsOf(seen)).to.deep.equal([]);
    await act(page, /./, 'Lift the suspension');
    await page.getByText('The invoice is not paid.').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('no such organization');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('Nothing was found.').waitFor();

    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    await page.getByRole('searchbox').fill(tenant.owner.email);
    await page.getByRole('button', { name: 'Find' }).click();
    await until(async () => (await page.getByRole('row').count()) === 2);
    await page.getByRole('row', { name: new RegExp(tenant.owner.email) }).waitFor();
  });

  it('say over each that the deployment is read-only, and why, also once a change was refused', async () => {
    const { db } = api.database;
    const reason = 'The database moves until 14:00.';
    const { page } = await visit('/admin/flags');
    const banner = page.getByRole('status').filter({ hasText: 'Nothing can be changed for now' });
    await page.getByText('There are no feature flags.').waitFor();
    await db.updateTable('deployment').set({ read_only: reason }).execute();
    try {
      expect(await banner.count()).to.equal(0);
      await page.getByRole('button', { name: 'New flag' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('search.rerank');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').getByRole('alert').waitFor();
      await page.keyboard.press('Escape');
      await banner.getByText(reason).waitFor();
      for (const path of ['system', 'organizations', 'users']) {
        await page.goto(`${api.url}/admin/${path}`);
        await banner.getByText(reason).waitFor();
        expect(await violationsOf(page), path).to.deep.equal([]);
      }
    } finally {
      await db.updateTable('deployment').set({ read_only: null }).execute();
    }
  });

  it('ban a user with a reason, who is out at once, and lift the ban', async () => {
    const grace = await api.signUp('Grace Hopper');
    const { page } = await visit(`/admin/users?q=${grace.email}`);
    await act(page, 'Grace Hopper', 'Ban');
    await page.getByLabel('Reason').fill('spam');
    await page.getByRole('dialog').getByRole('button', { name: 'Ban', exact: true }).click();
    await page.getByRole('row', { name: /Banned.*The ban ends in.*spam/ }).waitFor();
    expect((await api.request('GET', '/api/v1/me', { token: grace.token })).status).to.equal(401);
    await act(page, 'Grace Hopper', 'Lift the ban');
    await page.getByRole('row', { name: /Grace Hopper.*Active/ }).waitFor();
  });

  it('act in the name of a user under a banner on every page, which ends it with one click', async () => {
    const { page } = await visit(`/admin/users?q=${tenant.owner.email}`);
    await act(page, /./, 'Act as');
    await page.getByRole('dialog').getByRole('button', { name: 'Act as' }).click();
    const banner = page.getByRole('region', { name: 'You act in the name of another' });
    await banner.getByText(tenant.owner.email).waitFor();
    for (const path of [pathOf(tenant, 'documents'), pathOf(tenant, 'account'), '/start', '/sign-in', '/accept-invitation/a', '/nothing']) {
      await page.goto(api.url + path);
      await banner.waitFor();
      expect(await isOnTop(page), path).to.equal(true);
    }
    // Neither a dialog nor the rights of the user hide or widen it.
    await page.goto(api.url + pathOf(tenant, 'members'));
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').waitFor();
    await page.locator('.impersonation').waitFor();
    expect(await isOnTop(page)).to.equal(true);
    await page.goto(`${api.url}/admin/users`);
    await page.getByText('There is nothing at this address.').waitFor();
    await banner.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    expect(await banner.count()).to.equal(0);
  });

  it('set feature flags, for all and for one organization', async () => {
    const { page } = await visit('/admin/flags');
    await page.getByText('There are no feature flags.').waitFor();
    await page.getByRole('button', { name: 'New flag' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Not A Key');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('search.rerank');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: /search\.rerank.*Off/ });
    await act(page, 'search.rerank', 'Set for an organization');
    await page.getByLabel('Id of the organization').fill(tenant.organizationId);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await row.getByText(tenant.organizationId).waitFor();
    expect((await flagsOfTenant())['search.rerank']).to.equal(true);
    const theirs = (await visit(pathOf(tenant, 'usage'), tenant.owner)).page;
    await theirs.getByRole('row', { name: 'search.rerank On' }).waitFor();
    await row.getByRole('button', { name: `Remove what is set for ${tenant.organizationId}` }).click();
    await row.getByText(tenant.organizationId).waitFor({ state: 'detached' });
    await act(page, 'search.rerank', 'Turn on');
    await page.getByRole('row', { name: /search\.rerank.*On/ }).waitFor();
    await act(page, 'search.rerank', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There are no feature flags.').waitFor();
  });

  it('lead from a job to its workflow, and from the workspace to the platform', async () => {
    await api.addMember(tenant.organizationId, admin, 'member');
    const { page } = await visit(pathOf(tenant, `jobs/${jobId}`));
    await page.getByRole('link', { name: `See the workflow of job ${jobId}` }).waitFor();
    await page.getByRole('link', { name: 'Administration' }).click();
    await page.getByRole('heading', { name: 'System' }).waitFor();
  });

  it('are nothing for everybody else, and end with the role while they are looked at', async () => {
    const { page } = await visit('/admin/users', tenant.owner);
    await page.getByText('There is nothing at this address.').waitFor();
    await page.goto(api.url + pathOf(tenant, 'jobs'));
    await page
      .getByRole('row', { name: /Summarize a text/ })
      .getByRole('link')
      .click();
    await page.getByRole('heading', { name: 'Summarize a text' }).waitFor();
    expect(await page.getByRole('link', { name: /workflow|Administration/ }).count()).to.equal(0);

    const other = await api.signUp('Other Admin');
    await api.makePlatformAdmin(other);
    const { page: theirs } = await visit('/admin/system', other);
    await theirs.getByRole('heading', { name: 'Database' }).waitFor();
    await api.database.db.updateTable('user').set({ role: 'user' }).where('id', '=', other.id).execute();
    await theirs.getByRole('link', { name: 'Users' }).click();
    await theirs
      .getByRole('alert')
      .getByText(/not allowed/i)
      .first()
      .waitFor();
  });

  async function flagsOfTenant(): Promise<Record<string, boolean>> {
    const path = `/api/v1/flags?organizationId=${tenant.organizationId}`;
    return (await api.request('GET', path, { token: tenant.owner.token })).body;
  }
});

/** Whether the banner is what one sees where it stands. */
async function isOnTop(page: Page): Promise<unknown> {
  return await page.evaluate(`(() => {
    const banner = document.querySelector('.impersonation');
    const { left, top, width, height } = banner.getBoundingClientRect();
    return banner.contains(document.elementFromPoint(left + width / 2, top + height / 2)) && top + height <= innerHeight + 1;
  })()`);
}
