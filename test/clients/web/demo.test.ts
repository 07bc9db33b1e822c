import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pointTo, runDemo } from '../../docs/support/run-demo.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { useConsole } from './support/use-console.ts';

describe('What the demo has done, in the console', () => {
  const { api, open } = useConsole();
  let directory: string;
  before(() => {
    directory = makeTestDirectory();
  });
  after(() => removeTestDirectory(directory));

  it('is where its link leads, as the user that it names', async () => {
    const path = join(directory, 'keeper.md');
    writeFileSync(path, '# Lighthouse\n\nThe lamp is lit at dusk by the keeper.\n');
    const { code, stdout, stderr } = await runDemo([path], pointTo(api));
    expect(code, stderr).to.equal(0);
    const [, email = '', password = '', url = ''] = /In the console, as (\S+), password (\S+)\n(\S+)\n/.exec(stdout) ?? expect.fail(stdout);

    const { page, complaints } = await open(url.slice(api.url.length));
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('row', { name: /keeper\.md.*Succeeded/ })
      .nth(2)
      .waitFor();
    expect(new URL(page.url()).pathname).to.match(/^\/o\/demo-\w+\/documents\/jobs$/);
    expect(complaints).to.deep.equal([]);
  });
});
