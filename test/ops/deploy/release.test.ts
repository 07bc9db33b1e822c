import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';

interface Job {
  if?: string;
  needs?: string[];
  permissions?: Record<string, string>;
  with?: Record<string, unknown>;
  steps: { uses?: string; if?: string; run?: string; with?: Record<string, unknown> }[];
}

const text = readFileSync('.github/workflows/release.yml', 'utf8');
const workflow: { permissions: object; jobs: Record<string, Job> } = parse(text);

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
    for (const name of ['packages', 'images']) expect(workflow.jobs[name]?.needs, name).to.deep.equal(['tests', 'version']);
    const images = workflow.jobs.images?.steps ?? [];
    expect(images.find(({ uses }) => uses?.startsWith('docker/build-push-action@'))?.with?.push).to.equal(`\${{ ${forTags} }}`);
    expect(images.find(({ run }) => run?.includes('docker login'))?.if).to.equal(forTags);
  });
});
