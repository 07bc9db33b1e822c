import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { version } from '../../../contract/index.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

interface Job {
  if?: string;
  needs?: string[];
  permissions?: Record<string, string>;
  with?: Record<string, unknown>;
  steps: { name?: string; uses?: string; if?: string; run?: string; with?: Record<string, unknown> }[];
}

const text = readFileSync('.github/workflows/release.yml', 'utf8');
const workflow: { permissions: object; jobs: Record<string, Job> } = parse(text);

/** What the step of this name writes into `dist/`, run on this checkout. */
function runStep(name: string, directory: string): void {
  const { run = '' } = workflow.jobs.packages?.steps.find((step) => step.name === name) ?? {};
  mkdirSync(join(directory, 'dist'));
  for (const file of ['package.json', 'CHANGELOG.md']) copyFileSync(file, join(directory, file));
  execFileSync('bash', ['-eo', 'pipefail', '-c', run], { cwd: directory });
}

describe('.github/workflows/release.yml', () => {
  it('names each action by a commit, with its version beside it', () => {
    const actions = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action);
    expect(actions).to.not.deep.equal([]);
    for (const action of actions) expect(action).to.match(/^([\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/workflows\/test\.yml)$/);
  });

  it('gives each job just the rights that it needs, and what publishes none of the code', () => {
    expect(workflow.permissions).to.deep.equal({});
    const rights = Object.fromEntries(Object.entries(workflow.jobs).map(([name, { permissions }]) => [name, permissions]));
    expect(rights).to.deep.equal({
      tests: { contents: 'read' },
      version: { contents: 'read' },
      packages: { contents: 'read' },
      images: { contents: 'read', packages: 'write' },
      'publish-chart': { packages: 'write' },
      'publish-npm': { 'id-token': 'write' },
      'publish-wheel': { 'id-token': 'write' },
      page: { contents: 'write', 'id-token': 'write', attestations: 'write' },
    });
    for (const { steps = [] } of Object.values(workflow.jobs))
      for (const { uses, with: given } of steps)
        if (uses?.startsWith('actions/checkout@')) expect(given).to.deep.equal({ 'persist-credentials': false });
  });

  it('waits for every test, also those of the night', () => {
    expect(workflow.jobs.tests?.with).to.deep.equal({ nightly: true });
    const tests = parse(readFileSync('.github/workflows/test.yml', 'utf8'));
    expect(tests.on.workflow_call.inputs.nightly).to.deep.equal({ type: 'boolean', default: false });
    const runs = tests.jobs.test.steps.flatMap(({ run = '' }: { run?: string }) => (run.startsWith('npm test') ? [run] : []));
    expect(runs).to.have.length(1);
    expect(runs[0]).to.contain("(inputs.nightly || github.event_name == 'schedule') && '--nightly'");
  });

  it('publishes nothing when it is started by hand, and packages only once everything is built', () => {
    const forTags = "github.event_name == 'push'";
    for (const name of ['publish-chart', 'publish-npm', 'publish-wheel'])
      expect(workflow.jobs[name], name).to.deep.include({ if: forTags, needs: ['packages', 'images'] });
    const afterAll = ['publish-chart', 'publish-npm', 'publish-wheel'];
    expect(workflow.jobs.page).to.deep.include({ if: forTags, needs: afterAll });
    for (const name of ['packages', 'images']) expect(workflow.jobs[name]?.needs, name).to.deep.equal(['tests', 'version']);
    const images = workflow.jobs.images?.steps ?? [];
    expect(images.find(({ uses }) => uses?.startsWith('docker/build-push-action@'))?.with?.push).to.equal(`\${{ ${forTags} }}`);
    expect(images.find(({ run }) => run?.includes('docker login'))?.if).to.equal(forTags);
  });

  it('tells on the page of the release what the changelog has of this version alone', () => {
    const directory = makeTestDirectory();
    const changelog = readFileSync('CHANGELOG.md', 'utf8');
    runStep('Take what changed', directory);
    const told = readFileSync(join(directory, 'dist/changes.md'), 'utf8');
    const [, section = ''] = changelog.split(new RegExp(`^## ${RegExp.escape(version)} .*\\n`, 'm'));
    expect(told.length).to.be.greaterThan(1000);
    expect(told).to.equal(section.split(/^## /m)[0]);
    removeTestDirectory(directory);
  });
});
