import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { createKey } from '../../support/api-keys.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { until } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { expectOk } from '../../support/requests.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { type MailServer, startMailServer } from '../../support/smtp.ts';
import { violationsOf } from './support/axe.ts';
import { mailLink } from './support/mail-link.ts';
import { act } from './support/row-menu.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('An organization in the console', () => {
  let mailServer: MailServer;
  let receiver: Receiver;
  const directory = makeTestDirectory();
  const prices = join(directory, 'prices.json');
  writeFileSync(prices, JSON.stringify({ currency: 'EUR', prices: [] }));
  const { api, open, tenant } = useConsole(async () => {
    mailServer = await startMailServer();
    receiver = await startReceiver();
    return {
      PROVIDER_PRICES: prices,
      SMTP_URL: mailServer.url,
      EMAIL_FROM: 'sheaf@example.com',
      WEBHOOKS_ENABLED: 'true',
      WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
    };
  });
  after(async () => {
    await Promise.all([mailServer.stop(), receiver.stop()]);
    removeTestDirectory(directory);
  });

  const visit = async (page: string) => (await open(pathOf(tenant, page), { as: tenant.owner })).page;

  it('invites by mail, gives another role, and removes', async () => {
    const { page } = await open(pathOf(tenant, 'members'), { as: tenant.owner, permissions: ['clipboard-read', 'clipboard-write'] });
    const email = 'grace@example.com';
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByRole('row', { name: `${email} Member` }).waitFor();

    // The link of the mail leads to a page of the console, for somebody who has no account yet.
    const link = await mailLink(mailServer, email, /Invitation/);
    await act(page, email, 'Copy the link');
    await page.getByRole('row', { name: email }).getByRole('status').getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(api.url + link);
    const { page: invited } = await open(link);
    await invited.getByText(/ invites you to join /).waitFor();
    await invited.getByRole('link', { name: 'Create account' }).click();
    await invited.getByLabel('Your name').fill('Grace Hopper');
    await invited.getByLabel('Email address').fill(email);
    await invited.getByLabel(/^Password/).fill(password);
    await invited.getByRole('button', { name: 'Create account' }).click();
    await invited.getByRole('button', { name: 'Join' }).click();
    await invited.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
    // A member is offered nothing that only admins may do.
    await invited.getByRole('link', { name: 'Members' }).click();
    await invited.getByRole('row', { name: /Grace Hopper \(you\).*Member/ }).waitFor();
    expect(await invited.getByRole('button', { name: 'Invite' }).count()).to.equal(0);
    await invited.getByText(/Your role \(Member\).* invite people.* permission invitation:create\. Ask for another role: Ada\./).waitFor();
    // In place of a page for admins it is said what is lacking, and nothing is asked of the service that it would refuse.
    const refused: string[] = [];
    invited.on('response', (response) => void (response.status() === 403 && refused.push(response.url())));
    for (const [name, permission] of [
      ['API keys', 'apiKey:manage'],
      ['Webhooks', 'webhook:manage'],
      ['Audit log', 'auditLog:read'],
      ['Plan', 'billing:read'],
    ]) {
      await invited.getByRole('link', { name }).click();
      await invited.getByRole('heading', { name, level: 1 }).waitFor();
      await invited.getByText(new RegExp(`permission ${permission}\\. Ask for another role: Ada\\.`)).waitFor();
      expect(await violationsOf(invited)).to.deep.equal([]);
    }
    await invited.getByRole('link', { name: 'Workspaces' }).click();
    await invited.getByText(/permission workspace:delete/).waitFor();
    // What every member may do is offered to them.
    await invited.getByRole('button', { name: 'New workspace' }).waitFor();
    expect(refused).to.deep.equal([]);
    await invited.getByRole('link', { name: 'Members' }).click();

    await page.reload();
    // A role that was given meanwhile is seen as soon as a page is opened that needs it.
    await invited.getByRole('link', { name: 'Plan' }).click();
    await page.getByLabel('Role of Grace Hopper').selectOption('admin');
    await until(async () => (await rolesOf()).includes('admin'));
    await invited.getByRole('link', { name: 'API keys' }).click();
    await invited.getByRole('button', { name: 'New key' }).waitFor();
    await invited.getByRole('link', { name: 'Members' }).click();
    await page.getByLabel('Role of Grace Hopper').selectOption('owner');
    const question = page.getByRole('dialog', { name: 'Change the role of Grace Hopper to Owner?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await rolesOf()).to.deep.equal(['admin', 'owner']);
    // An admin is offered nothing that only owners may do, and is asked before the own role is gone.
    await invited.reload();
    const own = invited.getByRole('combobox', { name: 'Role of Grace Hopper' });
    await own.waitFor();
    expect(await own.locator('option').allTextContents()).to.deep.equal(['Admin', 'Member']);
    await invited.getByRole('row', { name: /^Ada .* Owner/ }).waitFor();
    expect(await invited.getByRole('button', { name: 'Actions for Ada' }).count()).to.equal(0);
    await own.selectOption('member');
    await invited.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click();
    await own.waitFor({ state: 'detached' });
    expect(await rolesOf()).to.deep.equal(['member', 'owner']);
    await act(page, 'Grace Hopper', 'Remove');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor({ state: 'detached' });
    expect(await rolesOf()).to.deep.equal(['owner']);
  });

  it('is where who joins it comes to, also from another organization, and nobody else is left without a way on', async () => {
    const { owner: other } = await api.createTenant();
    const { organizationId } = tenant;
    const invite = async () => {
      const body = { organizationId, email: other.email, role: 'member' };
      const { body: made } = await expectOk(
        api.request('POST', '/api/auth/organization/invite-member', { token: tenant.owner.token, body }),
      );
      return `/accept-invitation/${made.id}`;
    };
    const path = await invite();
    const { page: stranger } = await open(path, { as: tenant.owner });
    await stranger.getByText(`You are signed in as ${tenant.owner.email}.`).waitFor();
    expect(await violationsOf(stranger)).to.deep.equal([]);
    await stranger.getByRole('button', { name: 'Sign out' }).click();
    await stranger.getByText('Sign in with the address that the mail was sent to').waitFor();

    const { page } = await open(path, { as: other });
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('You have declined the invitation.').waitFor();
    await page.getByRole('link', { name: 'Go to your documents' }).click();
    await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
    await page.goto(api.url + (await invite()));
    await page.getByRole('button', { name: 'Join' }).click();
    await page.waitForURL(`**${pathOf(tenant, 'documents')}`);
    const leaving = { memberIdOrEmail: other.email, organizationId };
    await expectOk(api.request('POST', '/api/auth/organization/remove-member', { token: tenant.owner.token, body: leaving }));
  });

  it('invites who signs up without the link of the mail, too', async () => {
    const user = await api.signUp();
    await api.database.db.updateTable('user').set({ emailVerified: true }).where('id', '=', user.id).execute();
    const body = { organizationId: tenant.organizationId, email: user.email, role: 'member' };
    await expectOk(api.request('POST', '/api/auth/organization/invite-member', { token: tenant.owner.token, body }));
    const { page } = await open('/', { as: user });
    const invited = page.getByText(/^You are invited to join .+\.$/);
    await invited.waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'See the invitation' }).click();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByRole('link', { name: 'Go to your documents' }).click();
    await page.getByRole('heading', { name: 'Set up your organization' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await invited.count()).to.equal(0);
  });

  it('makes a team, adds a member, who sees the others, and deletes it', async () => {
    const page = await visit('members');
    await page.getByText('There are no teams.').waitFor();
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Night watch');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Night watch', { exact: true }).waitFor();
    const members = page.locator('details');
    await members.getByText('Members').click();
    await members.getByText('Only who is in this team sees its members.').waitFor();
    await act(page, 'Night watch', 'Add a member');
    await page.getByRole('dialog').getByRole('button', { name: 'Add a member' }).click();
    await members.getByText('Ada', { exact: true }).waitFor();
    await act(page, 'Night watch', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There are no teams.').waitFor();
  });

  it('adds a workspace, gives it and itself other names, and deletes the workspace', async () => {
    const page = await visit('workspaces');
    await page.getByRole('button', { name: 'New workspace' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Field notes');
    // A click beside it loses nothing that was typed, and a double click makes no second one.
    await page.mouse.click(5, 5);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.getByRole('button', { name: 'Create' }).dblclick();
    await page.getByRole('row', { name: /Field notes 0 B/ }).waitFor();
    expect(asked.filter((path) => path === '/rpc/workspaces/create')).to.have.length(1);
    await act(page, 'Field notes', 'Rename');
    await page.getByRole('textbox', { name: 'Name' }).fill('Observations');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Observations/ }).waitFor();
    await page.getByRole('button', { name: 'Rename organization' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Korvid Ridge');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByText('Korvid Ridge').waitFor();
    await page.getByLabel('Workspace').selectOption({ label: 'Observations' });
    await page.getByText('No documents yet').waitFor();

    await page.getByRole('link', { name: 'Workspaces' }).click();
    await act(page, 'Observations', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(`**${pathOf(tenant, 'documents')}`);
  });

  it('gives a program a key, whose secret is shown once, another secret, and takes it back', async () => {
    const page = await visit('api-keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly import');
    const usual = ['Read workspaces', 'Read and search documents', 'Upload and change documents', 'Read jobs', 'Start jobs'];
    for (const each of usual) await page.getByRole('checkbox', { name: each }).uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByText('Permissions: choose one at least.').waitFor();
    for (const each of usual) await page.getByRole('checkbox', { name: each }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Done' }).waitFor();
    await page.mouse.click(5, 5);
    const first = await readSecret(page);
    expect(await statusWith(first)).to.equal(200);
    await page.getByRole('row', { name: /Nightly import.*Active/ }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('New key');
    expect(await page.content()).not.to.include(first);

    await act(page, 'Nightly import', 'Rotate');
    await page.getByLabel('The current secret stays good for').selectOption('no time');
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    const second = await readSecret(page);
    expect([await statusWith(first), await statusWith(second)]).to.deep.equal([401, 200]);
    await act(page, 'Nightly import', 'Revoke');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No keys yet').waitFor();
    expect(await statusWith(second)).to.equal(401);
  });

  it('adds an endpoint, sends a test, sees why a delivery failed, and sends it again', async () => {
    const page = await visit('webhooks');
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByLabel('Address').fill(receiver.url);
    await page.getByRole('button', { name: 'Create' }).click();
    const secret = await readSecret(page);
    expect(secret).to.match(/^whsec_/);
    await page.getByRole('link', { name: receiver.url }).click();

    receiver.behave({ status: 500, body: 'out of order' });
    await page.getByRole('button', { name: 'Send a test' }).click();
    const row = page.getByRole('row', { name: /webhook\.test/ });
    await row.getByText('Failed', { exact: true }).waitFor();
    await row.getByText('Request and response').click();
    await row.getByText('out of order').waitFor();
    receiver.behave({ status: 204 });
    await act(page, /^webhook\.test/, 'Send again');
    await row.getByText('Delivered', { exact: true }).waitFor();
    receiver.behave({ status: 500 });
    for (const failed of [1, 2]) {
      await page.getByRole('button', { name: 'Send a test' }).click();
      await until(async () => (await page.getByRole('row').getByText('Failed', { exact: true }).count()) === failed);
    }
    await page.getByLabel('Show deliveries by status').getByText('Failed').click();
    receiver.behave({ status: 204 });
    await page.getByRole('button', { name: 'Send all that failed again' }).click();
    await page.getByText('Sent again: 2 deliveries.').waitFor();
    await page.getByText('No delivery has this status.').waitFor();
    expect(new URL(page.url()).search).to.equal('?status=failed');
    await page.getByLabel('Show deliveries by status').getByText('All').click();
    await until(async () => (await page.getByRole('row').getByText('Delivered', { exact: true }).count()) === 3);

    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    // The endpoint is read again late: what was asked before that must not close what is asked after it.
    let answerRead = () => {};
    const readAgain = new Promise<void>((resolve) => {
      answerRead = resolve;
    });
    await page.route('**/rpc/webhooks/get', (route) => readAgain.then(() => route.continue()), { times: 1 });
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
    expect(await readSecret(page))
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('New secret');
    await page.getByRole('button', { name: 'Delete' }).click();
    const read = page.waitForResponse('**/rpc/webhooks/get');
    answerRead();
    await read;
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No endpoints yet').waitFor();
  });

  it('shows what was done, and by whom', async () => {
    const page = await visit('audit');
    const row = page.getByRole('row', { name: /Workspace created/ }).last();
    await row.getByText(tenant.owner.email).waitFor();
    await row.getByText('Workspace created').waitFor();
    await row.getByText('Details').click();
    await row.getByText('"action": "workspace.create"').waitFor();
    await row.getByText('"main"').waitFor();
    // What was done to one thing, and what somebody did.
    await row.getByRole('link', { name: `workspace ${tenant.workspaceId}` }).click();
    await page.getByText(`Only entries about ${tenant.workspaceId}`).waitFor();
    await until(async () => (await page.getByRole('row').count()) === 2);
    await page.reload();
    await row.getByRole('link', { name: tenant.owner.email }).click();
    await page.getByText(`Only entries by ${tenant.owner.email}`).waitFor();
    await page.getByRole('row', { name: /Organization created/ }).waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download as CSV' }).click()]);
    const lines = readFileSync(await saved.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines[0]).to.equal('sequence,createdAt,action,actorId,actorEmail,impersonatedBy,targetType,targetId,metadata');
    expect(lines[1]).to.match(/^"1","[^"]+","organization\.create","/);
    for (const line of lines.slice(1)) expect(line).to.contain(`"${tenant.owner.email}"`);
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByText('Only entries').waitFor({ state: 'detached' });
    // A member has no name either, but the address of who it is, also of who has done nothing yet.
    const member = await api.signUp();
    await api.addMember(tenant.organizationId, member, 'member');
    await page.reload();
    await page
      .getByRole('row', { name: /Member added/ })
      .getByText(member.email)
      .waitFor();
    // A job has no name: it is what it does, with which document.
    const { id: documentId } = await api.upload(tenant, { name: 'rota.txt', bytes: 'The night watch.' });
    const { token } = tenant.owner;
    await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.summarize', documentId } }));
    await page.reload();
    await page
      .getByRole('row', { name: /Job created/ })
      .getByText('Summarize, rota.txt')
      .waitFor();
    await page
      .getByRole('row', { name: /Document stored/ })
      .first()
      .getByText('rota.txt')
      .waitFor();
    // An invitation is that of an address.
    const body = { organizationId: tenant.organizationId, email: 'niels@example.com', role: 'member' };
    await expectOk(api.request('POST', '/api/auth/organization/invite-member', { token, body }));
    await page.reload();
    await page
      .getByRole('row', { name: /Invitation created/ })
      .getByText('niels@example.com')
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Plan' }).click();
    await page.getByText('Billing is off in this deployment').waitFor();
  });

  it('shows what providers did, says what is unknown, and saves it as CSV', async () => {
    const { id: document_id } = await api.upload(tenant, { name: 'ledger.txt', bytes: 'All that was owed.' });
    const { id: api_key_id } = await createKey(api, tenant);
    const of = { organization_id: tenant.organizationId, workspace_id: tenant.workspaceId, document_id, api_key_id };
    const row = { ...of, purpose: 'job', purpose_id: 'job-1', role: 'chat' } as const;
    const gone = { ...of, document_id: '=gone', api_key_id: null, purpose: 'answer', role: 'chat' } as const;
    const used = { model: 'talker', unreported_calls: 0, input_tokens: 1_200, output_tokens: 34 };
    await api.database.db
      .insertInto('provider_call')
      .values([{ ...row, ...used }, row, gone])
      .execute();
    const page = await visit('usage');
    // A month begins on its first day, and does not end on that of the next.
    await page.getByText(/^\w+ 1, \d{4} to \w+ (28|29|30|31), \d{4}$/).waitFor();
    await page.getByRole('row', { name: 'talker 1 1 1,234 unknown' }).waitFor();
    await page.getByRole('row', { name: 'Unknown 2 2 0 unknown' }).waitFor();
    const told = async (by: string, ...rows: string[]) => {
      await page.getByRole('combobox', { name: 'By', exact: true }).selectOption(by);
      for (const name of rows) await page.getByRole('row', { name }).waitFor();
    };
    await page.route('**/organizations/costs', (route) => route.abort(), { times: 9 });
    await told('Workspace');
    const failed = page.getByRole('alert').filter({ hasText: 'Costs of providers' });
    await failed.waitFor();
    await page.unroute('**/organizations/costs');
    await failed.getByRole('button', { name: 'Try again' }).click();
    await told('Workspace', 'Main 3 3 1,234 unknown');
    await told('API key', 'Test 2 2 1,234 unknown', 'Without a key 1 1 0 unknown');
    await told('Job', 'job-1 2 2 1,234 unknown', 'No job 1 1 0 unknown');
    await told('Day', `${new Date().toLocaleDateString('en', { dateStyle: 'medium', timeZone: 'UTC' })} 3 3 1,234 unknown`);
    await told('Document', 'ledger.txt 2 2 1,234 unknown', '=gone 1 1 0 unknown');
    expect(await violationsOf(page)).to.deep.equal([]);
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download as CSV' }).click()]);
    const [heads, ...lines] = readFileSync(await saved.path(), 'utf8').split('\r\n');
    expect(heads).to.equal('day,group,calls,unreportedCalls,unpricedCalls,inputTokens,cachedInputTokens,outputTokens,knownCostMicros');
    expect(lines[0]).to.match(new RegExp(`^"[\\d-]{10}","${document_id}","2","1","1","1200","0","34",""$`));
    expect(lines[1]).to.match(/^"[\d-]{10}","'=gone","1","1","0","0","0","0",""$/);
  });

  it('saves what providers did in more rows than a page has', async () => {
    await sql`insert into provider_call (organization_id, document_id, purpose, role)
      select ${tenant.organizationId}, 'document-' || n, 'job', 'chat' from generate_series(1, 12000) as n`.execute(api.database.db);
    const page = await visit('usage');
    await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('Document');
    await page.getByText(/^The last 31 days.* These are the 31 costliest of 12,00\d; the file has all\.$/).waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download as CSV' }).click()]);
    const lines = readFileSync(await saved.path(), 'utf8').split('\r\n');
    expect(lines.filter((line) => line.includes('"document-'))).to.have.length(12_000);
  });

  it('keeps what is old for some days only, says before what goes, and holds a workspace and itself', async () => {
    const { id } = await api.upload(tenant, { bytes: 'An old text.' });
    await sql`update document set created_at = now() - interval '40 days' where id = ${id}`.execute(api.database.db);
    const page = await visit('workspaces');
    await act(page, 'Main', 'Retention');
    await page.getByLabel(/^Documents, since/).fill('30');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The next night would delete: 1 document, 0 texts, 0 jobs.').waitFor();
    await page.getByRole('button', { name: 'Save, and delete that' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { body } = await api.request('GET', `/api/v1/workspaces?organizationId=${tenant.organizationId}`, { token: tenant.owner.token });
    expect(body[0].retention).to.deep.equal({ documents: 30, texts: null, jobs: null });

    await act(page, 'Main', 'Hold');
    await page.getByLabel('Reason').fill('The case of the broken dome.');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await page.getByText('Held: The case of the broken dome.').waitFor();
    await act(page, 'Main', 'Retention');
    await page.getByLabel(/^Documents, since/).fill('20');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Held, so nothing is deleted: The case of the broken dome.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await act(page, 'Main', 'Lift the hold');
    await page.getByText('Held: The case of the broken dome.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Hold the organization' }).click();
    await page.getByLabel('Reason').fill('All of it.');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await page.getByText('Held: All of it.').waitFor();
    await page.getByRole('button', { name: 'Lift the hold' }).click();
    await page.getByText('Held: All of it.').waitFor({ state: 'detached' });
  });

  it('gives a workspace budgets of credits and of money, and takes them back', async () => {
    const page = await visit('workspaces');
    const budgets = async (credits: string, money: string) => {
      await act(page, 'Main', 'Budgets');
      await page.getByLabel('Credits').fill(credits);
      await page.getByLabel('Known cost of providers, in EUR').fill(money);
      await page.getByRole('menu').waitFor({ state: 'detached' });
      expect(await violationsOf(page)).to.deep.equal([]);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const { body } = await api.request('GET', `/api/v1/workspaces?organizationId=${tenant.organizationId}`, {
        token: tenant.owner.token,
      });
      return [body[0].creditBudget, body[0].costBudgetMicros];
    };
    expect(await budgets('500', '20.5')).to.deep.equal([500, 20_500_000]);
    expect(await budgets('500', '0.004999')).to.deep.equal([500, 4_999]);
    expect(await budgets('', '')).to.deep.equal([null, null]);
  });

  it('is deleted by its owner, who types its slug', async () => {
    const doomed = await api.createTenant();
    const admin = await api.signUp();
    await api.addMember(doomed.organizationId, admin, 'admin');
    const { page: ofAdmin } = await open(pathOf(doomed, 'workspaces'), { as: admin });
    await ofAdmin.getByRole('button', { name: 'New workspace' }).waitFor();
    expect(await ofAdmin.getByRole('button', { name: 'Delete organization' }).count()).to.equal(0);

    const { page } = await open(pathOf(doomed, 'workspaces'), { as: doomed.owner });
    await page.getByRole('button', { name: 'Delete organization' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type this to confirm').fill(tenant.slug);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    expect(await dialog.locator(':invalid').count()).to.be.above(0);
    await dialog.getByLabel('Type this to confirm').fill(doomed.slug);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Set up your organization' }).waitFor();
    const rows = api.database.db.selectFrom('organization').where('id', '=', doomed.organizationId);
    expect(await rows.execute()).to.deep.equal([]);
  });

  it('is made by the menu of the account, and gets its workspace there if it has none', async () => {
    const page = await visit('documents');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'New organization' }).click();
    await page.getByLabel('Name of the organization').waitFor();
    await page.getByRole('link', { name: 'Go to your documents' }).click();
    await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
    // Who has none yet, and came with the wrong account, is no prisoner of the page.
    const lost = await api.signUp();
    const { page: only } = await open('/', { as: lost });
    await only.getByText(`You are signed in as ${lost.email}.`).waitFor();
    expect(await only.getByRole('link', { name: 'Go to your documents' }).count()).to.equal(0);
    expect(await violationsOf(only)).to.deep.equal([]);
    await only.getByRole('button', { name: 'Sign out' }).click();
    await only.getByRole('heading', { name: 'Sign in' }).waitFor();
    // Whoever tries again after only the workspace failed gets it in the organization that is there.
    const newcomer = await api.signUp('Grace Hopper');
    const { page: first } = await open('/start', { as: newcomer });
    await first.route('**/rpc/workspaces/create', (route) => route.fulfill({ status: 500, json: {} }), { times: 1 });
    await first.getByLabel('Name of the organization').fill('Night watch');
    await first.getByLabel('Put six sample documents in it').uncheck();
    await first.getByRole('button', { name: 'Create' }).click();
    await first.getByRole('alert').waitFor();
    await first.getByText('Night watch has no workspace yet').waitFor();
    await first.getByRole('button', { name: 'Create' }).click();
    await first.getByText('No documents yet').waitFor();
    expect(await api.database.db.selectFrom('member').where('userId', '=', newcomer.id).selectAll().execute()).to.have.length(1);

    const bare = await api.createTenant();
    await expectOk(api.request('DELETE', `/api/v1/workspaces/${bare.workspaceId}`, { token: bare.owner.token }));
    const { page: ofBare } = await open('/', { as: bare.owner });
    await ofBare.getByText('has no workspace yet').waitFor();
    await ofBare.getByLabel('Put six sample documents in it').uncheck();
    await ofBare.getByRole('button', { name: 'Create' }).click();
    await ofBare.getByText('No documents yet').waitFor();
    expect(new URL(ofBare.url()).pathname).to.equal(`/o/${bare.slug}/general/documents`);
  });

  async function rolesOf(): Promise<string[]> {
    const { organizationId } = tenant;
    const rows = await api.database.db.selectFrom('member').select('role').where('organizationId', '=', organizationId).execute();
    return rows.map(({ role }) => role).sort();
  }

  async function statusWith(secret: string): Promise<number> {
    const answer = await api.request('GET', `/api/v1/workspaces?organizationId=${tenant.organizationId}`, { token: secret });
    return answer.status;
  }
});

/** The secret of the dialog that shows it once, which is then closed. */
async function readSecret(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog', { name: /^The secret/ });
  const secret = (await dialog.locator('pre').textContent()) ?? '';
  noteTokens(secret);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  return secret;
}
