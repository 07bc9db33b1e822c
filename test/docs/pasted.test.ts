import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { everything } from '../../ops/local/local-service.ts';
import { completePython } from '../clients/support/python-client.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { runProgram } from '../support/processes.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { useApi } from '../support/use-api.ts';
import { curlLines } from './support/curl-lines.ts';

const pages = ['docs/integrations.md', 'docs/answers.md'];

/** The blocks of a page in one language, each with the heading above it. */
function blocksOf(page: string, language: string): { title: string; code: string }[] {
  const sections = readFileSync(page, 'utf8').split(/^##+ /m).slice(1);
  return sections.flatMap((section) =>
    [...section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code = '']) => ({
      title: section.slice(0, section.indexOf('\n')),
      code,
    })),
  );
}

describe('The pages of integrators, pasted after the README', () => {
  // As the README's `npm start` has it, but for models, which are not at hand.
  const { EXTRA_JOB_KINDS, WEBHOOKS_ENABLED } = everything({});
  const { api } = useApi({ env: { EXTRA_JOB_KINDS, WEBHOOKS_ENABLED } });
  const blocks = pages.flatMap((page) => blocksOf(page, 'sh'));
  let directory: string;
  /** What each block has printed. */
  let printed: Map<string, string>;
  /** What the page's shell has exported. */
  let exported: Record<string, string>;

  before(async () => {
    directory = makeTestDirectory();
    mkdirSync(join(directory, 'program'));
    symlinkSync(resolve('node_modules'), join(directory, 'program/node_modules'));
    const pasted = blocks.map(({ title, code }) => `echo '### ${title}'\n${code}`).join('');
    const last = `echo '### exported'\nprintenv | grep ^SHEAF_\n`;
    const program = runProgram('sh', ['-eu', '-c', curlLines(api.url) + pasted + last], { env: { XDG_CONFIG_HOME: directory } });
    const { code } = await program.exited;
    expect({ code, stderr: program.stderr() }, program.stdout().slice(-2_000)).to.include({ code: 0 });
    const parts = program.stdout().split(/^### /m).slice(1);
    printed = new Map();
    for (const part of parts) {
      const [title = ''] = part.split('\n');
      printed.set(title, (printed.get(title) ?? '') + part.slice(title.length));
    }
    exported = Object.fromEntries(
      (printed.get('exported') ?? '')
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
    noteTokens(exported.SHEAF_API_KEY);
  }).timeout(180_000);
  after(() => removeTestDirectory(directory));

  it('refuse nothing, with the one key that they make', () => {
    expect(blocks.length).to.be.greaterThan(6);
    const { Fields: ofFields = '', ...others } = Object.fromEntries(printed);
    for (const [title, said] of Object.entries(others)) expect(said, title).not.to.match(/"defined":(true|false)|"error":\{/);
    // This deployment lacks what the page says that it needs: the kind and a model.
    expect(JSON.parse(ofFields)).to.include({ code: 'BAD_REQUEST' });
    const key = JSON.parse(printed.get('One key for this page') ?? '');
    expect(key).to.include({ name: 'My program', workspaceId: exported.SHEAF_WORKSPACE });
  });

  it('do what they say: a job, an endpoint, the command line, a chat, an answer', () => {
    expect(printed.get('One job for a document')).to.include('"kind":"document.process"');
    expect(printed.get('Webhooks')).to.include('"secret":"whsec_');
    expect(printed.get('The audit log, copied out')).to.match(/^\{.*"sequence":1\}$/m);
    expect(printed.get('Command line')).to.match(/1 (file )?(sent|uploaded)[\s\S]*mites/);
    expect(printed.get('Chat front ends')).to.include('"object":"chat.completion"');
    expect(printed.get('Asking')).to.include('"nothingFound":false').and.include('event: message');
  });

  // docs/integrations.test.ts runs the one of MCP.
  it('have a program in TypeScript that works: Chat front ends', async () => {
    const [{ code } = { code: '' }] = blocksOf('docs/integrations.md', 'ts').filter(({ title }) => title === 'Chat front ends');
    const file = join(directory, 'program', 'chat.ts');
    writeFileSync(file, code);
    const program = runProgram(process.execPath, [file], { env: exported });
    expect((await program.exited).code, program.stderr()).to.equal(0);
    expect(program.stdout()).to.match(/mites/);
  });

  it('have a program in Python that works, and charges no document twice', async () => {
    const [{ code } = { code: '' }] = blocksOf('docs/integrations.md', 'python').filter(({ title }) => title === 'Python');
    const stdout = await completePython(['-c', code], { env: exported });
    expect(stdout).to.match(/^beekeeping-notes\.md succeeded\n[\s\S]*mites/);
  });

  it('have configurations of clients in JSON that is well-formed, with the address of MCP', () => {
    const found = blocksOf('docs/integrations.md', 'json').map(({ code }) => JSON.stringify(JSON.parse(code)));
    expect(found).to.have.length(2);
    for (const each of found) expect(each).to.include('"url":"https://api.example.com/mcp"');
  });

  it('have no block in a language that is not tried', () => {
    for (const page of pages) {
      const languages = [...readFileSync(page, 'utf8').matchAll(/^```(\w*)\n(?:.*?)^```$/gms)].map(([, language]) => language);
      expect(['sh', 'ts', 'python', 'json'], page).to.include.members(languages);
    }
  });
});
