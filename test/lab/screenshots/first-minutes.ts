import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openContext } from './open-context.ts';

export interface FirstMinutes {
  /** The address of the workspace, which the names of its pages are added to. */
  workspaceUrl: string;
  /** The session of the newcomer. */
  state: Awaited<ReturnType<BrowserContext['storageState']>>;
  /** The files that were made, in their order. */
  pictures: string[];
}

/** A newcomer's first minutes: signs up, takes the samples, watches the jobs, asks, and sees the page that answers. */
export async function takeFirstMinutes(browser: Browser, url: string, directory: string): Promise<FirstMinutes> {
  const context = await openContext(browser, { viewport: { width: 1280, height: 720 }, colorScheme: 'light' });
  const page = await context.newPage();
  const pictures: string[] = [];
  const take = async (name: string) => {
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(directory, name) });
    pictures.push(name);
  };
  await signUp(page, url, { name: 'Ada Lovelace', organization: 'Korvid Ridge' });
  await page.getByRole('row', { name: /seed-inventory\.csv Searchable/ }).waitFor();
  const workspaceUrl = page.url().replace(/\/documents$/, '');
  await page.getByRole('row', { name: /observatory-handbook\.pdf Searchable/ }).waitFor();
  await page.getByRole('button', { name: 'Clear the list' }).click();
  await take('1-documents.png');

  await page.getByRole('link', { name: 'Jobs' }).click();
  await page
    .getByRole('row', { name: /Succeeded/ })
    .first()
    .waitFor();
  await take('2-jobs.png');

  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await page.getByRole('searchbox').fill('what wind speed closes the dome');
  await page.getByRole('button', { name: 'Search' }).click();
  const first = page.getByRole('listitem').first();
  await first.locator('mark').first().waitFor();
  await take('3-search.png');
  await first.getByRole('link').click();
  await page.getByRole('region', { name: 'Text' }).locator('mark').waitFor();
  await take('4-passage.png');
  const state = await context.storageState();
  await context.close();
  return { workspaceUrl, state, pictures };
}

/** Signs up a newcomer, who lands on the documents of a new organization with the samples. */
export async function signUp(page: Page, url: string, { name, organization }: { name: string; organization: string }): Promise<void> {
  await page.goto(`${url}/sign-up`);
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('Email address').fill(`${name.split(' ')[0]?.toLowerCase()}@example.com`);
  await page.getByRole('textbox', { name: 'Password' }).fill('a long password');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('Name of the organization').fill(organization);
  await page.getByRole('button', { name: 'Create' }).click();
}
