import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { errorCodes } from '../../../contract/errors.ts';
import { expectOk } from '../../support/requests.ts';
import { violationsOf } from './support/axe.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

/** The types of the console are checked on their own. */
const readSentences = () => import(String(new URL('../../../clients/web/src/messages/de-service.ts', import.meta.url)));

/** What the console says in German of what the service said. */
async function sentenceOf(said: { code: string; message?: string; data?: unknown }): Promise<string | undefined> {
  return (await readSentences()).ofService({ message: '', ...said });
}

describe('The console in German', () => {
  const { api, open, tenant } = useConsole({ QUESTION_LIMIT_PER_MINUTE: '1' });
  const inGerman = { locale: 'de-DE' };

  it('says in German what the service refuses at the first steps', async () => {
    const { page } = await open('/sign-in', inGerman);
    const alert = page.getByRole('alert');
    await page.getByLabel('E-Mail-Adresse').fill(tenant.owner.email);
    await page.getByLabel(/^Passwort/).fill('not the password');
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await alert.getByText('E-Mail-Adresse oder Passwort ist falsch.').waitFor();

    await page.goto(`${api.url}/sign-up`);
    await page.getByLabel('Ihr Name').fill('Ada');
    await page.getByLabel('E-Mail-Adresse').fill(tenant.owner.email);
    await page.getByLabel(/^Passwort/).fill('password123');
    await page.getByRole('button', { name: 'Konto erstellen' }).click();
    await alert.getByText('Das Passwort ist zu gängig: Wählen Sie ein anderes.').waitFor();
    await page.getByLabel(/^Passwort/).fill(password);
    await page.getByRole('button', { name: 'Konto erstellen' }).click();
    await alert.getByText('Für diese Adresse gibt es schon ein Konto.').waitFor();
  });

  it('says in German what it does not send itself, beside the files that it sends', async () => {
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner, ...inGerman });
    const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    const files = [file('leer.txt', ''), file('rechnung.exe', 'MZ'), file('brief.txt', 'Ein Brief.')];
    await page.locator('input[type=file]').setInputFiles(files);
    await page.getByRole('alert').getByText('Die Datei ist leer.').waitFor();
    await page.getByRole('alert').getByText('Dateien dieser Art werden nicht angenommen.').waitFor();
    await page.getByRole('region', { name: 'Uploads' }).getByText('Gespeichert', { exact: true }).waitFor();
  });

  it('says in German why a document failed, what was guessed in it, and how long to wait for an answer', async () => {
    const { token } = tenant.owner;
    const read = async (name: string, contentType: string, bytes: Uint8Array | string) => {
      const { id } = await api.upload(tenant, { name, contentType, bytes });
      const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId: id } });
      await api.jobIn(token, body.id, ['succeeded', 'failed']);
      return id;
    };
    const broken = await read('kaputt.pdf', 'application/pdf', 'no PDF at all');
    const { page } = await open(pathOf(tenant, `documents/${broken}`), { as: tenant.owner, ...inGerman });
    const reason = 'Das Dokument kann nicht gelesen werden: Es ist beschädigt oder von anderer Art, als sein Name sagt.';
    await page.getByRole('alert').getByText(reason).waitFor();
    const jobs = page.getByRole('region', { name: 'Jobs dieses Dokuments' });
    await jobs.getByText(reason).waitFor();
    await jobs.getByRole('link', { name: 'Lesen' }).click();
    await page.getByRole('alert').getByText(reason).waitFor();
    // Here is all that is known.
    await page.getByRole('alert').getByText('The PDF is damaged or is no PDF.').waitFor();
    await page.goto(api.url + pathOf(tenant, 'documents'));
    await page
      .getByRole('row', { name: /kaputt\.pdf/ })
      .getByText(reason)
      .waitFor();

    const old = await read('alt.txt', 'text/plain', Buffer.from('Die Größe der Spiegel wird in jedem Frühjahr überprüft.', 'latin1'));
    await page.goto(api.url + pathOf(tenant, `documents/${old}`));
    await page.getByText('Die Zeichenkodierung des Textes wurde vermutet.').waitFor();
    await page.getByText(/^The text names no charset\. It was read as windows-1252/).waitFor();

    for (const question of ['Wann wird die Kuppel gestrichen?', 'Und die Tür?']) {
      await page.goto(api.url + pathOf(tenant, 'ask'));
      await page.getByLabel('Was möchten Sie wissen?').fill(question);
      const asked = page.waitForResponse('**/documents/ask');
      await page.getByRole('button', { name: 'Fragen' }).click();
      await asked;
    }
    await page
      .getByRole('alert')
      .getByText(/^Zu viele Anfragen: Versuchen Sie es in \d+ s erneut\.$/)
      .waitFor();
  });

  it('says in German what sort of refusal it is, above the words of the service, where these have no German sentence', async () => {
    const admin = await api.signUp('Platform Admin');
    await api.makePlatformAdmin(admin);
    const { page } = await open('/admin/flags', { as: admin, ...inGerman });
    await page.getByRole('button', { name: 'Neuer Schalter' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Name/).fill('Not A Key');
    await dialog.getByRole('button', { name: 'Speichern' }).click();
    const alert = dialog.getByRole('alert');
    await alert.getByText('Der Dienst nimmt eine Angabe so nicht an:', { exact: true }).waitFor();
    expect(await alert.locator('[lang=en]').textContent()).to.match(/^key: /);
    expect(await violationsOf(page)).to.deep.equal([]);
  });

  it('says in German which permission a role lacks, and who can give another', async () => {
    const member = await api.signUp('Karin');
    await api.addMember(tenant.organizationId, member, 'member');
    const { page } = await open(pathOf(tenant, 'audit'), { as: member, ...inGerman });
    const lack = 'Ihre Rolle (Mitglied) erlaubt nicht, das Audit-Protokoll zu lesen: Es fehlt die Berechtigung auditLog:read.';
    await page.getByText(`${lack} Eine andere Rolle bekommen Sie von: Ada.`).waitFor();
  });

  it('says it on one line, too, where there is no room for two', async () => {
    const { organizationId, workspaceId, owner } = tenant;
    const body = { kind: 'text.embed', organizationId, workspaceId, texts: ['mirrors'] };
    const { id } = (await expectOk(api.request('POST', '/api/v1/jobs', { token: owner.token, body }))).body;
    await api.jobIn(owner.token, id, ['succeeded']);
    const failed = { status: 'failed' as const, error_code: 'ai_unreachable', error_message: 'away' };
    await api.database.db.updateTable('job').set(failed).where('id', '=', id).execute();
    const { page } = await open(pathOf(tenant, 'jobs?status=failed'), { as: owner, ...inGerman });
    const refusal = { defined: true, code: 'CONFLICT', status: 409, message: 'Something is in the way.' };
    await page.route('**/rpc/jobs/retry', (route) => route.fulfill({ status: 409, json: { json: refusal } }));
    await page.getByRole('checkbox', { name: 'Texte einbetten, kein Dokument auswählen' }).check();
    await page.getByRole('button', { name: '1 Job erneut versuchen' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Erneut versuchen' }).click();
    await dialog.getByText('Das passt nicht zu dem, was schon da ist: Something is in the way. (1 Job)').waitFor();
  });

  it('has a German sentence for every code that a person can meet', async () => {
    const message = 'This needs the permission document:write, which you do not have in this organization.';
    expect(await sentenceOf({ code: 'FORBIDDEN', message })).to.equal('Dafür fehlt die Berechtigung document:write.');
    // Their messages say what is missing, or which field is wrong: they stand below.
    const coarse = ['BAD_REQUEST', 'CONFLICT', 'PRECONDITION_FAILED'];
    const { inGeneral } = await readSentences();
    for (const code of coarse) expect(inGeneral[code], code).to.match(/:$/);
    const reference = readFileSync('docs/reference.md', 'utf8').split('## Why a job failed')[1]?.split('\n## ')[0] ?? '';
    const ofJobs = [...reference.matchAll(/`([a-z]+_[a-z_]+|timeout)`/g)].map(([, code = '']) => code);
    const extraction = readFileSync('docs/extraction.md', 'utf8');
    const ofNotices = [...extraction.matchAll(/^\| `([a-z]+_[a-z_]+)` \|/gm)].map(([, code = '']) => code);
    expect(ofJobs).to.include('unreadable_document');
    expect(ofNotices).to.include.members(['scan_not_read', 'xfa_form_not_read']);
    for (const code of [...Object.keys(errorCodes).filter((each) => !coarse.includes(each)), ...ofJobs, ...ofNotices])
      expect(await sentenceOf({ code }), code).to.match(/\.$/);
  });

  it('has a German sentence for what can be refused to an account or a member', async () => {
    const ofAccounts = ['CODE_REQUIRED', 'TWO_FACTOR_NOT_ENABLED', 'TOTP_ALREADY_ENABLED', 'SESSION_EXPIRED', 'EMAIL_ALREADY_VERIFIED'];
    const ofMembers = [
      ...['MEMBER_NOT_FOUND', 'TEAM_NOT_FOUND', 'ORGANIZATION_NOT_FOUND', 'YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION', 'LAST_OWNER'],
      ...['YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_MEMBER', 'EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION', 'OWNED_ORGANIZATION_BEING_DELETED'],
      ...['YOU_CANNOT_LEAVE_THE_ORGANIZATION_WITHOUT_AN_OWNER', 'YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_TEAMS'],
    ];
    const identity = readFileSync('docs/identity.md', 'utf8');
    for (const code of [...ofAccounts, ...ofMembers]) {
      expect(identity).to.include(`\`${code}\``);
      expect(await sentenceOf({ code }), code).to.match(/\.$/);
    }
  });

  it('keeps the reasons and limits that an error carries', async () => {
    const data = { reason: 'Die Rechnung vom Oktober ist offen.', since: '2026-10-01T00:00:00.000Z' };
    expect(await sentenceOf({ code: 'ORGANIZATION_SUSPENDED', data })).to.include(data.reason);
    expect(await sentenceOf({ code: 'LIMIT_REACHED', data: { kind: 'members', limit: 3, plan: 'free' } })).to.include('3 Mitglieder');
    expect(await sentenceOf({ code: 'PAYLOAD_TOO_LARGE', data: { maxBytes: 25_000_000 } })).to.include('25 MB');
  });
});
