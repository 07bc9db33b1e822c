import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';

/** A window without a past. It waits patiently: on a busy machine jobs take minutes. */
export async function openContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(180_000);
  return context;
}
