import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../../support/browser.ts';
import { builtConsole } from '../../../support/console-build.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { type Service, startService } from '../support/service.ts';
import { readTrace, traceCategories } from '../support/trace.ts';

const eventsPerSecond = 100;
/** Of each job: queued, running, succeeded. */
const eventsOfJob = 3;
const stepPixels = 600;

/** The console in a browser, by its trace: a list of 10,000 documents that is scrolled, and jobs that change a hundred times a second. */
export async function console(effort: Effort): Promise<Figure[]> {
  const documents = effort.quick ? 1_000 : 10_000;
  const seconds = effort.quick ? 5 : 20;
  const service = await startService({ CONSOLE: await builtConsole() });
  const browser = await openBrowser();
  try {
    const { page, organizationId, workspaceId } = await openConsole(browser, service);
    await seedDocuments(service, { organizationId, workspaceId, documents });
    const scrolled = await scrollDocuments(browser, page, documents);
    const list = toFigures(`${documents} documents, scrolled`, scrolled);
    let requests = 0;
    page.on('request', () => void requests++);
    const changed = await followJobs(browser, page, service, { organizationId, workspaceId, seconds });
    const name = `${eventsPerSecond} events a second, the jobs open`;
    const asked = { value: (requests * 60) / seconds, unit: 'a minute' };
    // What an address may ask by default.
    return [...list, ...toFigures(name, changed), toFigure(`${name}: requests`, asked, { atMost: 300 })];
  } finally {
    await browser.close();
    await service.stop();
  }
}

function toFigures(name: string, { longestTaskMs, droppedPercent }: ReturnType<typeof readTrace>): Figure[] {
  return [
    toFigure(`${name}: longest task`, { value: longestTaskMs, unit: 'ms' }, { atMost: 200 }),
    toFigure(`${name}: frames dropped`, { value: droppedPercent, unit: '%' }),
  ];
}

/** A window of a user who has an organization and a workspace. */
async function openConsole(browser: Browser, service: Service) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const user = { name: 'Bench', email: `${randomUUID()}@example.com`, password: 'a long password' };
  const headers = { origin: service.url };
  const signedUp = await context.request.post(`${service.url}/api/auth/sign-up/email`, { data: user, headers });
  const token = signedUp.headers()['set-auth-token'] ?? '';
  const slug = `console-${randomUUID()}`;
  const { id: organizationId } = await service.call('POST', '/api/auth/organization/create', { name: 'Bench', slug }, token);
  const workspace = { organizationId, name: 'Bench', slug: 'bench' };
  const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', workspace, token);
  const page = await context.newPage();
  await page.goto(`${service.url}/o/${slug}/bench/documents`);
  await page.getByText('No documents yet').waitFor();
  return { page, organizationId, workspaceId };
}

interface Seed {
  organizationId: string;
  workspaceId: string;
  documents: number;
}

const documentColumns = 'id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key, created_at';

async function seedDocuments({ pool }: Service, { organizationId, workspaceId, documents }: Seed): Promise<void> {
  await pool.query(
    `insert into document (${documentColumns})
     select gen_random_uuid(), $1, $2, 'report-' || n || '.pdf', 'application/pdf', 1000 + n, 'ready', 'seed/' || n, now() - n * interval '1 minute'
     from generate_series(1, $3::int) as n`,
    [organizationId, workspaceId, documents],
  );
  await pool.query('vacuum analyze document');
}

/** The document of a job has its id. */
const addJob = `with added as (
    insert into document (${documentColumns})
    values ($1, $2, $3, 'report-' || $1 || '.pdf', 'application/pdf', 1000, 'ready', 'seed/' || $1, now())
  )
  insert into job (id, organization_id, workspace_id, document_id, kind, status, input, max_attempts, credits, credit_month)
  values ($1, $2, $3, $1, 'document.index', 'queued', jsonb_build_object('documentId', $1::text), 1, 2, '2026-01-01')`;

/** Shows all documents, and scrolls through them in both directions, as fast as frames follow. */
async function scrollDocuments(browser: Browser, page: Page, documents: number) {
  await page.reload();
  const more = page.getByRole('button', { name: 'Show more' });
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  for (let shown = await rows.count(); shown < documents; shown = await rows.count()) {
    await more.click();
    await rows.nth(shown).waitFor({ state: 'attached' });
  }
  await browser.startTracing(page, { categories: traceCategories });
  for (const step of [stepPixels, -stepPixels])
    await page.evaluate(`new Promise((resolve) => {
      let steps = 300;
      const scroll = () => {
        scrollBy(0, ${step});
        if (--steps > 0) requestAnimationFrame(scroll); else resolve();
      };
      scroll();
    })`);
  return readTrace(await browser.stopTracing());
}

interface Following {
  organizationId: string;
  workspaceId: string;
  seconds: number;
}

/** Opens the jobs, and has them change without a workflow, as a trigger of the database tells every process. */
async function followJobs(browser: Browser, page: Page, { pool }: Service, { organizationId, workspaceId, seconds }: Following) {
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page.getByText('Live', { exact: true }).waitFor();
  const changes = jobChanges(organizationId, workspaceId);
  const begunAt = performance.now();
  await browser.startTracing(page, { categories: traceCategories });
  // The last job ends.
  const events = Math.floor((seconds * eventsPerSecond) / eventsOfJob) * eventsOfJob;
  for (let sent = 0; sent < events; sent++) {
    await pool.query(...changes(sent));
    const waitMs = begunAt + (sent * 1_000) / eventsPerSecond - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  const trace = readTrace(await browser.stopTracing());
  await page.locator('tbody tr').first().getByText('Succeeded').waitFor();
  return trace;
}

/** The statement of each change, as of an import: a document that is there and its job, which then runs, and then has succeeded. */
function jobChanges(organizationId: string, workspaceId: string) {
  let id = '';
  return (sent: number): [string, unknown[]] => {
    const step = sent % eventsOfJob;
    if (step === 0) {
      id = randomUUID();
      return [addJob, [id, organizationId, workspaceId]];
    }
    const status = step === 1 ? `status = 'running', attempts = 1, started_at = now()` : `status = 'succeeded', finished_at = now()`;
    return [`update job set ${status}, updated_at = now() where id = $1`, [id]];
  };
}
