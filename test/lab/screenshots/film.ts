import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { signUp } from './first-minutes.ts';
import { openContext } from './open-context.ts';

/** How long a picture stays: while something goes on, and when there is something to read. In milliseconds. */
const [moving, reading] = [300, 2_400];
/** Pictures of the jobs that are taken at most: the rest of the film is for the answer. */
const maxOfJobs = 24;
const question = 'How often are the mirrors washed?';
/** Of the 256 that a GIF may have: a page has few. */
const colours = 64;

/** A film of a newcomer's first minutes, about twenty seconds: the samples are read and made searchable, and one of them answers a question. */
export async function takeFilm(browser: Browser, url: string, path: string): Promise<void> {
  const context = await openContext(browser, { viewport: { width: 1440, height: 810 }, colorScheme: 'light' });
  const page = await context.newPage();
  const film = new Film(page);
  await signUp(page, url, { name: 'Grace Hopper', organization: 'Tarn Bridge' });
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page.getByRole('row', { name: /\.pdf/ }).first().waitFor();
  for (let taken = 0; taken < maxOfJobs && (await page.getByRole('row', { name: /Succeeded/ }).count()) < 6; taken += 1) {
    await film.take(moving);
    await page.waitForTimeout(moving);
  }
  await page
    .getByRole('row', { name: /Succeeded/ })
    .nth(5)
    .waitFor();
  await film.take(reading);

  await page.getByRole('link', { name: 'Ask' }).click();
  const field = page.getByLabel('What do you want to know?');
  for (const words of question.split(' ').map((_, index, all) => all.slice(0, index + 1).join(' '))) {
    await field.fill(words);
    await film.take(moving);
  }
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  const sentence = page.getByRole('list', { name: 'Answer' }).getByRole('listitem').first();
  await sentence.waitFor();
  await film.take(2 * reading);

  await sentence.getByRole('link', { name: /^Open the quote/ }).click();
  await page.getByRole('region', { name: 'Text' }).locator('mark').waitFor();
  await page.frameLocator('iframe').locator('canvas[data-shown]').waitFor();
  await film.take(2 * reading);
  await film.write(path);
  await context.close();
}

/** Pictures of a page, one after the other. */
class Film {
  readonly #page: Page;
  readonly #pictures: Buffer[] = [];
  readonly #delays: number[] = [];

  constructor(page: Page) {
    this.#page = page;
  }

  /** Takes a picture, that stays for so many milliseconds. One like that before makes that stay longer. */
  async take(milliseconds: number): Promise<void> {
    const picture = await this.#page.screenshot();
    if (this.#pictures.at(-1)?.equals(picture)) this.#delays.push((this.#delays.pop() ?? 0) + milliseconds);
    else {
      this.#pictures.push(picture);
      this.#delays.push(milliseconds);
    }
  }

  async write(path: string): Promise<void> {
    const film = sharp(this.#pictures, { join: { animated: true } });
    await film.gif({ delay: this.#delays, loop: 0, colours, effort: 10, dither: 0 }).toFile(path);
  }
}
