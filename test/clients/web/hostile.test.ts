import { expect } from 'chai';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { expectOk } from '../../support/requests.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { act } from './support/row-menu.ts';
import { pathOf, useConsole } from './support/use-console.ts';

/** Texts that would run, or ask another origin for something, if anything took them for more than text. */
const payloads = [
  '<script>window.hacked=1</script>',
  '<img src=x onerror="window.hacked=1">',
  '"><svg onload=window.hacked=1>',
  "'-window.hacked=1-'",
  '</title></textarea><iframe src="https://attacker.example/">',
  '{{constructor.constructor("window.hacked=1")()}}',
  'javascript:window.hacked=1',
  '[a](javascript:window.hacked=1)',
  '<style>*{background:url(https://attacker.example/a)}</style>',
];
const [script = ''] = payloads;
/** As text of an HTML document: escaped once, so that the text of the document is the payload. */
const escaped = payloads.map((each) => each.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));

describe('Hostile texts in the console', () => {
  const { api, open, tenant } = useConsole({ WEBHOOKS_ENABLED: 'true' });
  const make = async (path: string, body: object) => (await expectOk(api.request('POST', path, { token: tenant.owner.token, body }))).body;
  let ids: string[];
  let endpointId: string;
  let invitationId: string;

  before('makes a tenant of them', async () => {
    const { organizationId, owner, workspaceId } = tenant;
    const { token } = owner;
    await api.makePlatformAdmin(owner);
    await expectOk(api.request('POST', '/api/auth/update-user', { token, body: { name: script } }));
    const data = { name: script };
    await expectOk(api.request('POST', '/api/auth/organization/update', { token, body: { organizationId, data } }));
    await expectOk(api.request('PATCH', `/api/v1/workspaces/${workspaceId}`, { token, body: { name: script } }));
    noteTokens((await make('/api/v1/api-keys', { organizationId, name: script, permissions: ['job:read'] })).secret);
    const url = 'https://hooks.example.com/<script>window.hacked=1</script>';
    const endpoint = await make('/api/v1/webhooks', { organizationId, url, description: script, events: ['job.failed'] });
    endpointId = endpoint.id;
    await make('/api/auth/organization/create-team', { organizationId, name: script });
    const email = 'grace@example.com';
    invitationId = (await make('/api/auth/organization/invite-member', { organizationId, email, role: 'member' })).id;
    const html = `<title>${escaped[0]}</title>${escaped.map((each) => `<h1>${each}</h1><p>${each} mirrors</p>`).join('')}<script>window.hacked=1</script>`;
    const files = [
      ...payloads.map((name) => ({ name, contentType: 'text/plain', bytes: `${payloads.join('\n')}\nmirrors` })),
      { name: 'page.html', contentType: 'text/html', bytes: html },
    ];
    ids = await Promise.all(files.map(async (file) => (await api.upload(tenant, file)).id));
    for (const id of ids) {
      const { id: job } = await make('/api/v1/jobs', { kind: 'document.index', documentId: id });
      await api.jobIn(token, job, ['succeeded']);
    }
    await expectOk(
      api.request('PATCH', `/api/v1/documents/${ids[0]}`, { token, body: { tags: payloads, metadata: { [script]: payloads } } }),
    );
    const summary = await make('/api/v1/jobs', { kind: 'document.summarize', documentId: ids[0], maxSentences: 50 });
    await api.jobIn(token, summary.id, ['succeeded']);
  });

  const pages = () => [
    { path: 'documents', shows: payloads },
    { path: `documents/${ids[0]}`, shows: payloads },
    { path: `documents/${ids.at(-1)}`, shows: payloads },
    { path: `documents?tags=${encodeURIComponent(JSON.stringify(payloads))}`, shows: payloads },
    { path: 'jobs', shows: payloads },
    { path: 'search?q=mirrors', shows: payloads },
    { path: 'ask?q=mirrors&key=hostile', shows: ['mirrors'] },
    { path: 'usage', shows: [] },
    { path: 'members', shows: [script] },
    { path: 'workspaces', shows: [script] },
    { path: 'api-keys', shows: [script] },
    { path: 'webhooks', shows: [script] },
    { path: `webhooks/${endpointId}`, shows: [script] },
    { path: 'audit', shows: [] },
    { path: 'plan', shows: [] },
    { path: 'mailbox', shows: ['Invitation to “<script>'] },
    { path: 'account', shows: [] },
  ];

  it('are shown as texts on every screen: nothing of them runs, and no other origin is asked', async () => {
    const { page, complaints } = await open('/sign-in', { as: tenant.owner });
    const asked = new Set<string>();
    page.on('request', (request) => void (/^https?:/.test(request.url()) && asked.add(new URL(request.url()).origin)));
    page.on('dialog', (dialog) => void complaints.push(dialog.message()));
    for (const { path, shows } of pages()) {
      await page.goto(api.url + pathOf(tenant, path));
      const main = page.getByRole('main');
      await main.getByRole('heading', { level: 1 }).waitFor();
      for (const text of shows) await main.getByText(text).first().waitFor();
      await until(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0);
      expect(await page.evaluate('window.hacked'), path).to.equal(undefined);
      expect(await page.locator('main :is(script, iframe, [onload], [onerror]), a[href^="javascript:"]').count(), path).to.equal(0);
    }
    // What asks before it deletes names the document.
    await page.goto(api.url + pathOf(tenant, 'documents'));
    await page.getByRole('button', { name: `Actions for ${script}` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText(`Delete “${script}”?`).waitFor();

    const invited = await open(`/sign-in?next=${encodeURIComponent('https://attacker.example/')}`);
    await invited.page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
    expect([...asked]).to.deep.equal([api.url]);
    expect(complaints).to.deep.equal([]);
  });

  nightly('are texts for platform admins, who see those of everybody', async () => {
    const admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
    await expectOk(api.request('PUT', '/api/v1/admin/flags/quiet', { token: admin.token, body: { description: script } }));
    const ban = { userId: (await api.signUp(script)).id, banReason: script };
    await expectOk(api.request('POST', '/api/auth/admin/ban-user', { token: admin.token, body: ban }));
    const { page, complaints } = await open('/admin/system', { as: admin });
    await page.getByRole('heading', { name: 'Database' }).waitFor();
    for (const path of ['organizations', 'users', 'flags']) {
      await page.goto(`${api.url}/admin/${path}`);
      await page.getByRole('main').getByText(script).first().waitFor();
      expect(await page.locator('main :is(script, iframe, [onload], [onerror])').count(), path).to.equal(0);
    }
    // In whose name an admin acts stands over every page.
    const grace = await api.signUp(script);
    await page.goto(`${api.url}/admin/users?q=${grace.email}`);
    await act(page, script, 'Act as');
    await page.getByRole('dialog').getByRole('button', { name: 'Act as' }).click();
    const banner = page.getByRole('region', { name: 'You act in the name of another' });
    await banner.waitFor();
    for (const name of payloads) {
      await api.database.db.updateTable('user').set({ name }).where('id', '=', grace.id).execute();
      await page.goto(`${api.url}/start`);
      await banner.getByText(`You act in the name of ${name} (`).waitFor();
      expect(await banner.locator(':is(script, style, img, svg, iframe)').count(), name).to.equal(0);
    }
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
    expect(complaints).to.deep.equal([]);
  });

  it('are texts for who is invited, too, and no address leads elsewhere after signing in', async () => {
    const stranger = await api.signUp('Mallory');
    await api.database.db.updateTable('user').set({ email: 'grace@example.com' }).where('id', '=', stranger.id).execute();
    const grace = { ...stranger, email: 'grace@example.com' };
    const { page } = await open(`/accept-invitation/${invitationId}`, { as: grace });
    await page.getByText(`invites you to join ${script}.`).waitFor();
    for (const next of ['https://attacker.example/', '//attacker.example/', '/\\attacker.example/', 'javascript:window.hacked=1']) {
      const { page: signIn } = await open(`/sign-in?next=${encodeURIComponent(next)}`);
      await signIn.getByLabel('Email address').fill(tenant.owner.email);
      await signIn.getByRole('textbox', { name: 'Password' }).fill('a long password');
      await signIn.getByRole('button', { name: 'Sign in' }).click();
      await signIn.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
      expect(new URL(signIn.url()).origin, next).to.equal(api.url);
    }
  });
});
