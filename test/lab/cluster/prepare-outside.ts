import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { downloadGoModule } from '../containers/stand-ins/go-program.ts';
import type { Cluster } from './cluster.ts';
import { contour, keda } from './recipes.ts';

const deploy = 'ops/deploy';
/** A pod that waits, for what is tried from inside. */
const probe = (namespace: string) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probe', namespace } },
  spec: { containers: [{ name: 'probe', image: 'sheaf:0.3.0', command: ['sleep', 'infinity'] }], terminationGracePeriodSeconds: 1 },
});

/** Brings up what has to be there before the chart: databases, Temporal, a bucket, an ingress controller, Prometheus and KEDA. */
export async function prepareOutside(cluster: Cluster): Promise<void> {
  const namespaces = ['outside', 'temporal', 'monitoring', 'stranger'];
  await applyAll(
    cluster,
    namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  );
  await cluster.kubectl('label', 'namespace', 'monitoring', 'sheaf.example.com/monitoring=true');
  await installIngressController(cluster);
  await installKeda(cluster);
  const map = (namespace: string, name: string, files: string[]) => {
    const data = Object.fromEntries(files.map((file) => [file.split('/').at(-1), readFileSync(join(deploy, file), 'utf8')]));
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
  };
  await applyAll(cluster, [
    map('outside', 'databases', ['make-databases.sh']),
    map('temporal', 'temporal', ['prepare-temporal.sh', 'dynamicconfig/sheaf.yaml']),
    { ...map('monitoring', 'prometheus', []), data: { 'prometheus.yml': readScrapeConfiguration() } },
    ...['projectcontour', 'monitoring', 'stranger'].map(probe),
  ]);
  await cluster.apply(readFileSync(join(import.meta.dirname, 'outside.yaml'), 'utf8'));
  for (const pod of ['outside/postgres', 'outside/store', 'temporal/temporal', 'monitoring/prometheus']) {
    const [namespace = '', name] = pod.split('/');
    await cluster.until(`${pod} is ready`, async () => {
      const { code } = await cluster.try('-n', namespace, 'wait', '--for=condition=Ready', `pod/${name}`, '--timeout=10s');
      return code === 0;
    });
  }
}

/** Contour as its quick start has it, but with Envoy on the first node alone, where it listens at the ports 80 and 443. */
async function installIngressController(cluster: Cluster): Promise<void> {
  await cluster.kubectl('apply', '-f', join(await downloadGoModule(contour.module, contour.version), 'examples/render/contour.yaml'));
  await cluster.kubectl('label', 'namespace', 'projectcontour', 'sheaf.example.com/edge=true');
  const [, own] = /kubectl -n projectcontour patch configmap contour --patch '(.*?)'/s.exec(readPage()) ?? [];
  await cluster.kubectl('-n', 'projectcontour', 'patch', 'configmap', 'contour', `--patch=${own}`);
  await cluster.kubectl('-n', 'projectcontour', 'rollout', 'restart', 'deploy/contour');
  const onFirst = { spec: { template: { spec: { nodeSelector: { 'kubernetes.io/hostname': 'node1' } } } } };
  await cluster.kubectl('-n', 'projectcontour', 'patch', 'daemonset', 'envoy', `--patch=${JSON.stringify(onFirst)}`);
  await cluster.kubectl('-n', 'projectcontour', 'rollout', 'status', 'daemonset/envoy', '--timeout=300s');
}

/** KEDA as its own manifests have it, but with fewer processors requested, which the nodes of one machine share, and images that are there. */
async function installKeda(cluster: Cluster): Promise<void> {
  const manifests = await cluster.kubectl('kustomize', join(await downloadGoModule(keda.module, keda.version), 'config/default'));
  const changes: [RegExp, string][] = [
    [/:main$/gm, `:${keda.version.slice(1)}`],
    [/imagePullPolicy: Always/g, 'imagePullPolicy: IfNotPresent'],
    [/cpu: 100m/g, 'cpu: 10m'],
  ];
  // The definition of its jobs is longer than what `apply` keeps beside a resource.
  await cluster.apply(
    changes.reduce((text, [from, to]) => text.replace(from, to), manifests),
    '--server-side',
  );
  for (const name of ['keda-operator', 'keda-metrics-apiserver', 'keda-admission'])
    await cluster.kubectl('-n', 'keda', 'rollout', 'status', `deploy/${name}`, '--timeout=300s');
}

const readPage = () => readFileSync('docs/kubernetes.md', 'utf8');

/** The configuration of Prometheus that docs/kubernetes.md has, which scrapes as often as the tests need it. */
function readScrapeConfiguration(): string {
  const [, configuration] = /```yaml\n(scrape_configs:\n.*?)```/s.exec(readPage()) ?? [];
  if (!configuration) throw new Error('docs/kubernetes.md has no configuration of Prometheus.');
  return `global: { scrape_interval: 2s, scrape_timeout: 2s }\n${configuration}`;
}

async function applyAll(cluster: Cluster, manifests: object[]): Promise<void> {
  await cluster.apply(manifests.map((each) => JSON.stringify(each)).join('\n---\n'));
}
