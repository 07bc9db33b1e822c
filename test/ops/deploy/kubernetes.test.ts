import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { loadAiServiceConfig } from '../../../base/config/ai-service.ts';
import type { Environment } from '../../../base/config/environment.ts';
import { secretVariables } from '../../../base/config/secret-files.ts';
import { loadServerConfig } from '../../../base/config/server.ts';
import { variables } from '../../../base/config/variables.ts';
import { forceMs } from '../../../worker/create-workers.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { findUnread, watchReads } from '../../support/unread-fields.ts';
import { expectValid } from './valid-manifest.ts';

const directory = 'ops/deploy/kubernetes';
const read = (name: string) => readFileSync(join(directory, name), 'utf8');
/** What the chart has, before values.yaml changes it. */
const manifests: any[] = readdirSync(join(directory, 'manifests')).flatMap((name) => readAll(read(join('manifests', name))));
/** Applied by hand, before the chart and when it is needed. */
const namespace: any = parse(read('namespace.yaml'));
const restore: any = parse(read('restore.yaml'));
const named = (kind: string, name: string) => manifests.find((each) => each.kind === kind && each.metadata.name === name);
const workloads = [...manifests, restore].filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
const podOf = (workload: any) => workload.spec.template.spec;
const containersOf = (workload: any): any[] => [...(podOf(workload).initContainers ?? []), ...podOf(workload).containers];
/** Read by the client of Google's storage, not by the service. */
const ofGoogle = ['GOOGLE_APPLICATION_CREDENTIALS'];

describe('ops/deploy/kubernetes', () => {
  for (const manifest of [...manifests, namespace, restore]) {
    const { kind, metadata } = manifest;
    it(`has a valid ${kind} ${metadata.name}, without a field that Kubernetes does not know`, () => expectValid(manifest));
  }

  it('is checked by validators that see a wrong type, a missing field and an unknown one', async () => {
    const { validate } = await import('kubernetes-models/_schemas/IoK8sApiAppsV1Deployment');
    const broken = structuredClone(named('Deployment', 'sheaf-api'));
    const reads = new Set<string>();
    broken.spec.template.spec.containers[0].readOnlyRootFilesystem = true;
    expect(validate(watchReads(broken, reads))).to.equal(true);
    expect(findUnread(broken, reads)).to.deep.equal(['/spec/template/spec/containers/0/readOnlyRootFilesystem']);
    broken.spec.replicas = '2';
    expect(validate(broken)).to.equal(false);
    broken.spec.replicas = 2;
    delete broken.spec.selector;
    expect(validate(broken)).to.equal(false);
  });

  it('runs the AI service in its image and everything else in the other, of this version', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const workload of workloads) {
      for (const { image, name } of containersOf(workload))
        expect(image, name).to.equal(`${name === 'ai' ? 'sheaf-ai' : 'sheaf'}:${version}`);
    }
    expect(parse(read('Chart.yaml'))).to.include({ version, appVersion: version });
  });

  it('gives each program only variables that it reads', () => {
    for (const workload of workloads) {
      for (const { name, envFrom, env = [] } of containersOf(workload)) {
        const given = envFrom.flatMap(({ configMapRef }: any) => Object.keys(named('ConfigMap', configMapRef.name).data));
        const known = name === 'ai' ? variables.aiService : [...variables.server, ...ofGoogle];
        const inFiles = secretVariables.filter((secret) => known.includes(secret)).map((secret) => `${secret}_FILE`);
        expect([...known, ...inFiles], name).to.include.members([...given, ...env.map((each: any) => each.name)]);
      }
    }
  });

  it('configures programs that boot, with limits and documents that all pods share', () => {
    const files = makeTestDirectory();
    try {
      const server = loadServerConfig(withSecrets('sheaf-server', files));
      expect(server).to.include({ production: true, trustProxy: true });
      expect(server.metrics).to.deep.equal({ host: '0.0.0.0', port: 9464 });
      expect(server.limits.store).to.equal('postgres');
      expect(server.storage).to.include({ driver: 'bucket', bucket: 'sheaf-documents' });
      expect(loadAiServiceConfig(withSecrets('sheaf-ai', files)).metrics).to.deep.equal({ host: '0.0.0.0', port: 9464 });
      expect(new URL(server.ai.url).hostname).to.equal(named('Service', 'sheaf-ai').metadata.name);
    } finally {
      removeTestDirectory(files);
    }
  });

  it('opens as many connections to Postgres at most as its page says, and fewer than the page has Postgres allow', () => {
    const page = readFileSync('docs/kubernetes.md', 'utf8');
    const files = makeTestDirectory();
    try {
      const poolOf = (name: string) => {
        const [{ env = [] }] = podOf(named('Deployment', name)).containers;
        const own = Object.fromEntries(env.map((each: any) => [each.name, each.value]));
        return loadServerConfig({ ...withSecrets('sheaf-server', files), ...own }).database.poolSize;
      };
      const surgeOf = (name: string) => named('Deployment', name).spec.strategy.rollingUpdate.maxSurge;
      const apis = named('Deployment', 'sheaf-api').spec.replicas + surgeOf('sheaf-api');
      const workers = named('HorizontalPodAutoscaler', 'sheaf-worker').spec.maxReplicas + surgeOf('sheaf-worker');
      // What docs/configuration.md says that each adds to its pool, and what a migration and a command take.
      const formula = readFileSync('docs/configuration.md', 'utf8');
      expect(formula)
        .to.include('API processes × (DATABASE_POOL_SIZE + 1,')
        .and.include('workers × (DATABASE_POOL_SIZE + 3) + 3 for a migration + 3');
      const [ofApis, ofWorkers] = [apis * (poolOf('sheaf-api') + 1), workers * (poolOf('sheaf-worker') + 3)];
      expect(page).to.include(`| ${apis} × (${poolOf('sheaf-api')} + 1) = ${ofApis} |`);
      expect(page).to.include(`| ${workers} × (${poolOf('sheaf-worker')} + 3) = ${ofWorkers} |`);
      const sum = ofApis + ofWorkers + 3 + 3;
      expect(page).to.include(`| together | ${sum} |`);
      const allowed = Number(/`max_connections` to (\d+)/.exec(page)?.[1]);
      expect(allowed - 3, 'room for pods that stop').to.be.at.least(sum + apis * (poolOf('sheaf-api') + 1));
    } finally {
      removeTestDirectory(files);
    }
  });

  it('takes root, capabilities, writable files and the token of the cluster from every container', () => {
    for (const workload of workloads) {
      const { securityContext, automountServiceAccountToken, enableServiceLinks, volumes } = podOf(workload);
      expect(securityContext).to.deep.equal({
        runAsNonRoot: true,
        runAsUser: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect([automountServiceAccountToken, enableServiceLinks]).to.deep.equal([false, false]);
      for (const { name, securityContext: confined, resources, volumeMounts } of containersOf(workload)) {
        expect(confined, name).to.deep.equal({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(resources.limits, name).to.have.keys('cpu', 'memory');
        expect(resources.requests, name).to.have.keys('cpu', 'memory');
        expect(
          volumeMounts.filter((mount: any) => !mount.readOnly).map(({ mountPath }: any) => mountPath),
          name,
        ).to.deep.equal(['/tmp']);
      }
      expect(volumes.find(({ name }: any) => name === 'secrets').secret.defaultMode).to.equal(0o440);
    }
    const [ai] = podOf(named('Deployment', 'sheaf-ai')).volumes;
    expect(ai.secret.secretName, 'the AI service gets no secret of the database').to.equal('sheaf-ai');
  });

  it('probes paths that are served, at ports that are listened on', () => {
    const ports: Record<string, Record<string, number>> = {
      api: { http: 3000, metrics: 9464 },
      worker: { metrics: 9464 },
      ai: { http: 8000, metrics: 9464 },
    };
    const paths: Record<string, Record<string, string>> = {
      api: { startupProbe: '/healthz http', readinessProbe: '/readyz http', livenessProbe: '/healthz http' },
      worker: { startupProbe: '/metrics metrics', livenessProbe: '/metrics metrics' },
      ai: { startupProbe: '/health http', readinessProbe: '/health http', livenessProbe: '/health http' },
    };
    for (const [program, expected] of Object.entries(paths)) {
      const [container] = podOf(named('Deployment', `sheaf-${program}`)).containers;
      expect(Object.fromEntries(container.ports.map((port: any) => [port.name, port.containerPort])), program).to.deep.equal(
        ports[program],
      );
      const probes = Object.keys(container).filter((key) => key.endsWith('Probe'));
      const asked = probes.map((probe) => [probe, `${container[probe].httpGet.path} ${container[probe].httpGet.port}`]);
      expect(Object.fromEntries(asked), program).to.deep.equal(expected);
    }
    expect(readFileSync('api/app.ts', 'utf8')).to.include("'/healthz'").and.include("'/readyz'");
    expect(readFileSync('contract/ai-service/index.ts', 'utf8')).to.include("'/health'");
    expect(readFileSync('base/telemetry/serve-metrics.ts', 'utf8')).to.include("'/metrics'");
    for (const name of ['sheaf-api', 'sheaf-ai']) expect(named('Service', name).spec.ports[0].targetPort, name).to.equal('http');
  });

  it('leaves a pod the time that its program takes to stop', () => {
    const { SHUTDOWN_DELAY_MS: delayMs, WORKER_SHUTDOWN_GRACE_MS: graceMs } = named('ConfigMap', 'sheaf-server').data;
    const leftOver = 10;
    const graceOf = (name: string) => podOf(named('Deployment', name)).terminationGracePeriodSeconds;
    expect(graceOf('sheaf-api')).to.be.at.least(Number(delayMs) / 1_000 + 5 + leftOver);
    expect(graceOf('sheaf-worker')).to.be.at.least((Number(graceMs) + forceMs) / 1_000 + leftOver);
  });

  it('keeps a pod of each program while a node is emptied, and scales workers by a metric that the API exports', () => {
    for (const name of ['sheaf-api', 'sheaf-worker', 'sheaf-ai']) {
      const { selector } = named('Deployment', name).spec;
      expect(named('PodDisruptionBudget', name).spec, name).to.deep.equal({
        ...{ minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector },
      });
    }
    const { scaleTargetRef, minReplicas, metrics, behavior } = named('HorizontalPodAutoscaler', 'sheaf-worker').spec;
    expect(behavior.scaleUp.policies).to.deep.equal([{ type: 'Percent', value: 100, periodSeconds: 120 }]);
    expect(named('Deployment', scaleTargetRef.name).spec, 'an apply would set it back').not.to.have.property('replicas');
    for (const replicas of [minReplicas, ...['sheaf-api', 'sheaf-ai'].map((name) => named('Deployment', name).spec.replicas)])
      expect(replicas).to.be.at.least(2);
    const [{ external }] = metrics;
    expect(readFileSync('adapters/metrics/watch-backlog.ts', 'utf8')).to.include(`'${external.metric.name}'`);
    expect(readFileSync('docs/kubernetes.md', 'utf8')).to.include(`as: ${external.metric.name}`);
  });

  it('restores once, with the rights, the labels and the variables of the migration', () => {
    const migration = named('Job', 'sheaf-migrate');
    expect([restore.spec.backoffLimit, podOf(restore).restartPolicy]).to.deep.equal([0, 'Never']);
    expect(restore.metadata.namespace).to.equal(namespace.metadata.name);
    expect(restore.spec.template.metadata.labels).to.deep.equal(migration.spec.template.metadata.labels);
    expect(containersOf(restore)[0].envFrom).to.deep.equal(containersOf(migration)[0].envFrom);
    expect(podOf(restore).securityContext).to.deep.equal(podOf(migration).securityContext);
  });

  it('lets nothing in or out by default, the AI service not even ask for a name', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
    const [nothing, ...others] = policies;
    expect(nothing).to.deep.equal({
      podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'sheaf' } },
      policyTypes: ['Ingress', 'Egress'],
    });
    for (const { spec } of workloads) expect(spec.template.metadata.labels).to.include(nothing.podSelector.matchLabels);
    const out = others.filter(({ policyTypes }) => policyTypes.includes('Egress')).map(({ podSelector }) => podSelector);
    expect(out).to.deep.equal([
      { matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: ['sheaf-api', 'sheaf-worker', 'sheaf-migrate'] }] },
    ]);
    const ports = new Set(
      containersOf(named('Deployment', 'sheaf-api'))
        .flatMap((each) => each.ports ?? [])
        .map(({ name }: any) => name),
    );
    for (const { ingress = [] } of others) for (const rule of ingress) expect([...ports]).to.include(rule.ports[0].port);
  });
});

/** The variables of a configuration map, its secrets in files of a directory. */
function withSecrets(name: string, files: string): Environment {
  const secrets: Record<string, string> = {
    'auth-secret': '0123456789abcdef'.repeat(4),
    'service-token': 'fedcba9876543210'.repeat(4),
    'database-url': 'postgres://sheaf@postgres/sheaf',
    'smtp-url': 'smtp://mail',
  };
  mkdirSync(files, { recursive: true });
  for (const [file, secret] of Object.entries(secrets)) writeFileSync(join(files, file), secret);
  const data: Record<string, string> = named('ConfigMap', name).data;
  return Object.fromEntries(Object.entries(data).map(([variable, value]) => [variable, value.replace('/run/secrets', files)]));
}

function readAll(text: string): any[] {
  return parseAllDocuments(text).map((document) => document.toJS());
}
