import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Environment } from '../../../../base/config/environment.ts';
import { openBrowser } from '../../../support/browser.ts';
import { builtConsole } from '../../../support/console-build.ts';
import type { Tenant, TestUser } from '../../../support/tenants.ts';
import { type UsedApi, useApi } from '../../../support/use-api.ts';

export const password = 'a long password';

/** A window of a browser with the console in it. */
interface Window {
  page: Page;
  context: BrowserContext;
  /** What the browser has complained of: errors of scripts, and what the page's policy has refused. */
  complaints: string[];
}

interface UsedConsole extends UsedApi {
  /** Opens a path of the console in a window of its own, as nobody or as a user. */
  open(path: string, options?: BrowserContextOptions & { as?: TestUser }): Promise<Window>;
}

/** Gives the tests of a `describe` a service with the console, and a browser. `process`: see `useApi`. */
export function useConsole(env: Environment | (() => Promise<Environment>) = {}, { process = false } = {}): UsedConsole {
  const given = typeof env === 'function' ? env : async () => env;
  const used = useApi({ process, env: async () => ({ CONSOLE: await builtConsole(), ...(await given()) }) });
  let browser: Browser;
  before('starts a browser', async () => {
    browser = await openBrowser();
  });
  after('ends the browser', () => browser?.close());
  afterEach('closes the windows', () => Promise.all(browser.contexts().map((context) => context.close())));

  return Object.assign(Object.create(used), {
    async open(path: string, { as, ...options }: BrowserContextOptions & { as?: TestUser } = {}): Promise<Window> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
      context.setDefaultTimeout(60_000);
      if (as) await signIn(context, used.api.url, as);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && void complaints.push(message.text()));
      page.on('pageerror', (error) => void complaints.push(String(error)));
      await page.goto(`${used.api.url}${path}`);
      return { page, context, complaints };
    },
  });
}

async function signIn(context: BrowserContext, url: string, { email }: TestUser): Promise<void> {
  const answer = await context.request.post(`${url}/api/auth/sign-in/email`, { data: { email, password }, headers: { origin: url } });
  expect(answer.status()).to.equal(200);
}

/** The path of a tenant's workspace. */
export function pathOf({ slug }: Tenant, page: string): string {
  return `/o/${slug}/main/${page}`;
}
