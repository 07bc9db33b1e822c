// `npm run screenshots [-- DIRECTORY]`: walks through the console of a service that is started for it, and takes a picture of each screen.
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startStack } from '../../../ops/local/stack.ts';
import { openBrowser } from '../../support/browser.ts';
import { builtConsole } from '../../support/console-build.ts';
import { startReceiver } from '../../support/receiver.ts';
import { takeEveryScreen } from './every-screen.ts';
import { takeFilm } from './film.ts';
import { takeFirstMinutes } from './first-minutes.ts';

/** Those of the README, in the order in which a newcomer sees them, and a film of them. */
const ofReadme = resolve('docs/pictures');
const film = 'first-minutes.gif';
const directory = resolve(process.argv[2] ?? '.data/screenshots');

const dataDir = mkdtempSync(join(realpathSync(tmpdir()), 'sheaf-screenshots-'));
const receiver = await startReceiver();
const browser = await openBrowser();
const env = { CONSOLE: await builtConsole(), WEBHOOKS_ENABLED: 'true', WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8' };
const stack = await startStack({ dataDir, temporalUi: false, env });
try {
  mkdirSync(directory, { recursive: true });
  const first = await takeFirstMinutes(browser, stack.apiUrl, directory);
  await takeEveryScreen(browser, first, { directory, webhookUrl: receiver.url });
  await takeFilm(browser, stack.apiUrl, join(directory, film));
  if (process.argv[2] === undefined) for (const name of [...first.pictures, film]) cpSync(join(directory, name), join(ofReadme, name));
  process.stdout.write(`The pictures are in ${directory}\n`);
} finally {
  await browser.close();
  await stack.stop();
  await receiver.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
