import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { createSupervisor } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { findGoProgram } from '../../support/go-program.ts';
import { helm } from '../../support/helm.ts';
import { runProgram } from '../../support/processes.ts';
import { expectValid } from './valid-manifest.ts';

const chart = 'ops/deploy/kubernetes';
const readAll = (text: string): any[] => parseAllDocuments(text).map((document) => document.toJS());
const manifests = readdirSync(join(chart, 'manifests')).flatMap((name) => readAll(readFileSync(join(chart, 'manifests', name), 'utf8')));
const nameOf = ({ kind, metadata }: any) => `${kind} ${metadata.name}`;
const byName = (one: any, another: any) => nameOf(one).localeCompare(nameOf(another));

describe('The chart', function () {
  this.timeout(60_000);
  let program: string;
  const directory = makeTestDirectory();
  before(async () => {
    const supervisor = createSupervisor();
    mkdirSync(directory, { recursive: true });
    program = await findGoProgram(helm, supervisor, directory).finally(() => supervisor.close());
  });
  after(() => removeTestDirectory(directory));

  async function render(values: object, namespace = 'sheaf'): Promise<any[]> {
    const file = join(directory, 'values.yaml');
    writeFileSync(file, stringify(values));
    const running = runProgram(program, ['template', 'sheaf', chart, '--namespace', namespace, '--values', file]);
    expect((await running.exited).code, running.stderr()).to.equal(0);
    return readAll(running.stdout());
  }
  const find = (rendered: any[], name: string) => rendered.find((each) => nameOf(each) === name);

  it('is the manifests if nothing is set, in the namespace of its release', async () => {
    const rendered = await render({});
    const expected = manifests.map((manifest) => {
      const { kind, metadata } = structuredClone(manifest);
      if (kind !== 'PriorityClass') metadata.namespace = 'sheaf';
      if (kind === 'Job') metadata.name += '-1';
      return { ...manifest, metadata };
    });
    for (const { kind, spec } of rendered) {
      if (kind !== 'Deployment') continue;
      expect(spec.template.metadata.annotations).to.have.keys('sheaf.example.com/configuration');
      delete spec.template.metadata.annotations;
    }
    expect(rendered.sort(byName)).to.deep.equal(expected.sort(byName));
  });

  it('takes images, variables, sizes and what is special about the nodes', async () => {
    const seccompProfile = { type: 'Localhost', localhostProfile: 'sheaf-ai.json' };
    const rendered = await render({
      image: { registry: 'registry.example.com/ours', tag: '0.3.1' },
      config: { API_URL: 'https://docs.example.com', GOOGLE_APPLICATION_CREDENTIALS: '', METRICS_PORT: 9465 },
      aiConfig: { AI_READERS: 4 },
      api: { replicas: 3, resources: { limits: { memory: '2Gi' } } },
      ai: { pod: { securityContext: { seccompProfile }, nodeSelector: { pool: 'large' } } },
      worker: { maxReplicas: 12, queueSeconds: 30 },
    });
    for (const manifest of rendered) await expectValid(manifest);
    const images = rendered.flatMap(({ spec }) =>
      [...(spec?.template?.spec?.initContainers ?? []), ...(spec?.template?.spec?.containers ?? [])].map(({ image }) => image),
    );
    expect(new Set(images)).to.deep.equal(new Set(['sheaf', 'sheaf-ai'].map((name) => `registry.example.com/ours/${name}:0.3.1`)));
    const server = find(rendered, 'ConfigMap sheaf-server').data;
    expect(server).to.include({ API_URL: 'https://docs.example.com', METRICS_PORT: '9465', LIMITER_STORE: 'postgres' });
    expect(server).not.to.have.property('GOOGLE_APPLICATION_CREDENTIALS');
    expect(find(rendered, 'ConfigMap sheaf-ai').data).to.include({ AI_READERS: '4', NODE_ENV: 'production' });
    const { replicas, template } = find(rendered, 'Deployment sheaf-api').spec;
    expect([replicas, template.spec.containers[0].resources]).to.deep.equal([
      3,
      { requests: { cpu: '500m', memory: '512Mi' }, limits: { cpu: '1', memory: '2Gi' } },
    ]);
    const pod = find(rendered, 'Deployment sheaf-ai').spec.template.spec;
    expect(pod.securityContext).to.deep.equal({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile });
    expect(pod.nodeSelector).to.deep.equal({ pool: 'large' });
    const { minReplicas, maxReplicas, metrics } = find(rendered, 'HorizontalPodAutoscaler sheaf-worker').spec;
    expect([minReplicas, maxReplicas, metrics[0].external.target]).to.deep.equal([2, 12, { type: 'Value', value: '30' }]);
  });

  it('is installed beside another one: nothing outside of the namespace has the same name', async () => {
    const [ours, theirs] = [await render({ backup: { target: 's3://of/mine' } }), await render({}, 'staging')];
    const outside = (rendered: any[]) => rendered.filter(({ metadata }) => metadata.namespace === undefined).map(nameOf);
    expect([outside(ours), outside(theirs)]).to.deep.equal([['PriorityClass sheaf-first'], ['PriorityClass staging-first']]);
    const classes = theirs.map(({ spec }) => spec?.template?.spec?.priorityClassName).filter((name) => name !== undefined);
    expect(classes).to.deep.equal(['staging-first', 'staging-first']);
  });

  it('scales the API and the AI service by processors, and workers by KEDA, without setting their number', async () => {
    const rendered = await render({ api: { maxReplicas: 6 }, ai: { maxReplicas: 4 }, worker: { keda: 'http://prometheus:9090' } });
    const scaled = find(rendered, 'ScaledObject sheaf-worker').spec;
    for (const manifest of rendered) if (manifest.kind !== 'ScaledObject') await expectValid(manifest);
    for (const [name, max] of [
      ['api', 6],
      ['ai', 4],
    ]) {
      expect(find(rendered, `HorizontalPodAutoscaler sheaf-${name}`).spec).to.include({ minReplicas: 2, maxReplicas: max });
      expect(find(rendered, `Deployment sheaf-${name}`).spec).not.to.have.property('replicas');
    }
    expect(find(rendered, 'Deployment sheaf-worker').spec).not.to.have.property('replicas');
    expect(find(rendered, 'HorizontalPodAutoscaler sheaf-worker')).to.equal(undefined);
    const asked = manifests.find((each) => nameOf(each) === 'HorizontalPodAutoscaler sheaf-worker').spec;
    expect(scaled.advanced.horizontalPodAutoscalerConfig.behavior).to.deep.equal(asked.behavior);
    expect(scaled.triggers[0].metadata).to.deep.equal({
      serverAddress: 'http://prometheus:9090',
      query: `max(${asked.metrics[0].external.metric.name})`,
      threshold: asked.metrics[0].external.target.value,
    });
    const none = await render({ worker: { maxReplicas: null } });
    expect(find(none, 'Deployment sheaf-worker').spec.replicas).to.equal(2);
    expect(find(none, 'HorizontalPodAutoscaler sheaf-worker')).to.equal(undefined);
  });

  it('makes backups by a schedule, in a pod as that of the migration, where a bucket is named', async () => {
    const rendered = await render({ image: { tag: '0.3.1' }, backup: { target: 's3://of/mine', keep: 7 } });
    const backup = find(rendered, 'CronJob sheaf-backup');
    await expectValid(backup);
    expect(backup.spec).to.include({ schedule: '15 2 * * *', concurrencyPolicy: 'Forbid' });
    const { metadata, spec } = backup.spec.jobTemplate.spec.template;
    const migration = find(rendered, 'Job sheaf-migrate-1').spec.template;
    expect(metadata.labels, 'which lets it out').to.deep.equal(migration.metadata.labels);
    const [{ command, image, resources, ...container }] = spec.containers;
    expect(command).to.deep.equal(['node', 'ops/main.ts', 'backup', 's3://of/mine', '--keep', '7']);
    expect([image, resources.limits.memory]).to.deep.equal(['sheaf:0.3.1', '1Gi']);
    expect(migration.spec.containers[0]).to.deep.include({ ...container, name: 'migrate' });
    const { restartPolicy, containers: _, ...pod } = spec;
    expect(restartPolicy).to.equal('Never');
    expect(migration.spec).to.deep.include(pod);
    expect(pod).not.to.have.property('priorityClassName');
  });

  it('leads the host of API_URL to the API, where an ingress is asked for', async () => {
    const rendered = await render({
      config: { API_URL: 'https://docs.example.com' },
      ingress: { className: 'nginx', annotations: { a: 'b' } },
    });
    const ingress = find(rendered, 'Ingress sheaf');
    await expectValid(ingress);
    expect(ingress.metadata.annotations).to.deep.equal({ a: 'b' });
    expect(ingress.spec.tls).to.deep.equal([{ hosts: ['docs.example.com'], secretName: 'sheaf-tls' }]);
    const [{ host, http }] = ingress.spec.rules;
    const { name, port } = http.paths[0].backend.service;
    expect([host, find(rendered, `Service ${name}`).spec.ports[0].name]).to.deep.equal(['docs.example.com', port.name]);
  });
});
