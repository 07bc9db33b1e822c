import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { FirstMinutes } from './first-minutes.ts';
import { openContext } from './open-context.ts';

const ofEverybody = ['sign-in', 'sign-up', 'forgot-password', 'reset-password?token=a', 'accept-invitation/a'];
const ofWorkspace = [
  'documents',
  'documents?tags=care',
  'jobs',
  'search?q=mirrors',
  'ask?q=How+often+are+the+mirrors+washed%3F&key=the-same-answer',
  'usage',
  'members',
  'workspaces',
  'api-keys',
  'webhooks',
  'audit',
  'plan',
  'mailbox',
  'account',
];

const ofPlatformAdmins = ['system', 'organizations', 'users', 'flags'];

interface Options {
  directory: string;
  /** Where an endpoint takes webhooks. */
  webhookUrl: string;
}

/** Each screen, wide and as on a phone, light and dark: `members-390-dark.png`. */
export async function takeEveryScreen(browser: Browser, { workspaceUrl, state }: FirstMinutes, options: Options): Promise<void> {
  const { origin } = new URL(workspaceUrl);
  const endpointUrl = await fillScreens(await openContext(browser, { storageState: state }), workspaceUrl, options.webhookUrl);
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      const look = { viewport: { width, height: 800 }, colorScheme };
      const take = async (page: Page, address: string, name: string) => {
        await page.goto(address);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined);
        await page.screenshot({ path: join(options.directory, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      };
      const stranger = await openContext(browser, look);
      const strange = await stranger.newPage();
      for (const path of ofEverybody) await take(strange, `${origin}/${path}`, nameOf(path));
      const user = await openContext(browser, { ...look, storageState: state });
      const page = await user.newPage();
      for (const path of ofWorkspace) await take(page, `${workspaceUrl}/${path}`, nameOf(path));
      for (const path of ofPlatformAdmins) await take(page, `${origin}/admin/${path}`, `admin-${path}`);
      await take(page, endpointUrl, 'webhook');
      await take(page, `${origin}/start`, 'start');
      await page.goto(`${workspaceUrl}/documents`);
      await page.getByRole('link', { name: 'observatory-handbook.pdf' }).first().click();
      await page.getByRole('region', { name: 'Text' }).waitFor();
      const documentUrl = page.url();
      await take(page, documentUrl, 'document');
      await page.goto(`${documentUrl}?original=true`);
      // A frame outside of the window is not drawn: it is looked at as a person does.
      const original = page.locator('iframe.original');
      await original.scrollIntoViewIfNeeded();
      await original.contentFrame().locator('#page[data-shown]').waitFor();
      await page.screenshot({ path: join(options.directory, `original-${width}-${colorScheme}.png`) });
      await Promise.all([stranger.close(), user.close()]);
    }
}

/** Makes a key, an invitation, a team, labels and an endpoint that was told of something, so that their pages show one. Returns the endpoint's page. */
async function fillScreens(context: BrowserContext, workspaceUrl: string, webhookUrl: string): Promise<string> {
  const page = await context.newPage();
  await page.goto(`${workspaceUrl}/api-keys`);
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Nightly import');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.goto(`${workspaceUrl}/members`);
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('Email address').fill('grace@example.com');
  await page.getByRole('button', { name: 'Send the invitation' }).click();
  await page.getByRole('row', { name: /grace@example\.com/ }).waitFor();
  await page.getByRole('button', { name: 'New team' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Night watch');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Night watch', { exact: true }).waitFor();
  await page.goto(`${workspaceUrl}/documents`);
  await page.getByRole('link', { name: 'observatory-handbook.pdf' }).click();
  await page.getByRole('button', { name: 'Edit labels' }).click();
  for (const label of ['care', 'for the whole night watch', '2026']) {
    await page.getByRole('dialog').getByLabel('Labels', { exact: true }).fill(label);
    await page.keyboard.press('Enter');
  }
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goto(`${workspaceUrl}/webhooks`);
  await page.getByRole('button', { name: 'New endpoint' }).click();
  await page.getByLabel('Address').fill(webhookUrl);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('link', { name: webhookUrl }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page
    .getByRole('row', { name: /webhook\.test/ })
    .getByText('Delivered')
    .waitFor();
  const address = page.url();
  await context.close();
  return address;
}

function nameOf(path: string): string {
  return path.replace('?tags=', '-').replace(/[/?].*/, '');
}
