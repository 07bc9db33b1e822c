import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runProgram } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';
import { curlLines } from './support/curl-lines.ts';

const readme = readFileSync('README.md', 'utf8');

describe('README.md', () => {
  describe('With curl', () => {
    const { api } = useApi();
    let stdout: string;

    before(async () => {
      const run = runProgram('sh', ['-eu', '-c', curlLines(api.url)]);
      const { code } = await run.exited;
      stdout = run.stdout();
      expect({ code, stderr: run.stderr() }, stdout).to.deep.equal({ code: 0, stderr: '' });
    });

    it('uploads and completes a document', () => {
      expect(stdout).to.match(/"name":"notes\.md","contentType":"text\/markdown","size":2953,"status":"ready"/);
    });

    for (const kind of ['document.extract', 'document.summarize', 'document.index'])
      it(`sees ${kind} succeed on the stream`, () => {
        const events = [...stdout.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
        expect(events.filter((event) => event.kind === kind).map(({ status }) => status)).to.include('succeeded');
      });

    it('finds the passage', () => {
      const found = JSON.parse(stdout.slice(stdout.lastIndexOf('{"model":')));
      expect(found.results).to.have.length(1);
      expect(found.results[0].text).to.include('count the mites');
    });

    it('needs nothing but sh, curl and the tools that come with every system', () => {
      const commands = new Set(curlLines('').match(/(?<=^|\$\(|\| )[a-z]+(?= )/gm));
      expect([...commands]).to.have.members(['curl', 'date', 'field', 'post', 'sed', 'sleep', 'tr', 'wc']);
    });
  });

  it('names only commands and files that there are', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = [...readme.matchAll(/npm (?:run )?(start|test|demo)\b/g)].map(([, name]) => name);
    expect(Object.keys(scripts)).to.include.members(named);
    const links = [...readme.matchAll(/\]\(([^):]+)\)/g)].map(([, path]) => path ?? '');
    expect(links).to.include('docs/deploy.md');
    expect(links.filter((path) => !existsSync(path.replace(/#.*/, '')))).to.deep.equal([]);
  });
});
