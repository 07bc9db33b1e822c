import type { Page } from 'playwright-core';

/** Does something with a row by its menu. */
export async function act(page: Page, row: string | RegExp, action: string): Promise<void> {
  const name = typeof row === 'string' ? `Actions for ${row}` : new RegExp(`^Actions for .*${row.source.replace('^', '')}`);
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}
