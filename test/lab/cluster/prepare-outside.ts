import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';

const deploy = 'ops/deploy';
/** A pod that waits, for what is tried from inside. */
const probe = (namespace: string) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probe', namespace } },
  spec: { containers: [{ name: 'probe', image: 'sheaf:0.3.0', command: ['sleep', 'infinity'] }], terminationGracePeriodSeconds: 1 },
});

/** Brings up what has to be there before the chart: databases, Temporal, a bucket, and a proxy with TLS. */
export async function prepareOutside(cluster: Cluster, certificate: string): Promise<void> {
  const namespaces = { outside: {}, temporal: {}, edge: { edge: 'true' }, monitoring: { monitoring: 'true' }, stranger: {} };
  for (const [name, labels] of Object.entries(namespaces)) {
    const own = Object.entries(labels).map(([label, value]) => [`sheaf.example.com/${label}`, value]);
    await applyAll(cluster, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: Object.fromEntries(own) } }]);
  }
  const map = (namespace: string, name: string, files: string[]) => {
    const data = Object.fromEntries(files.map((file) => [file.split('/').at(-1), readFileSync(join(deploy, file), 'utf8')]));
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
  };
  await applyAll(cluster, [
    map('outside', 'databases', ['make-databases.sh']),
    map('temporal', 'temporal', ['prepare-temporal.sh', 'dynamicconfig/sheaf.yaml']),
    ...['edge', 'monitoring', 'stranger'].map(probe),
  ]);
  await cluster.kubectl('-n', 'edge', 'create', 'secret', 'tls', 'edge-tls', `--cert=${certificate}.crt`, `--key=${certificate}.key`);
  await cluster.apply(readFileSync(join(import.meta.dirname, 'outside.yaml'), 'utf8'));
  for (const pod of ['outside/postgres', 'outside/store', 'temporal/temporal']) {
    const [namespace = '', name] = pod.split('/');
    await cluster.until(`${pod} is ready`, async () => {
      const { code } = await cluster.try('-n', namespace, 'wait', '--for=condition=Ready', `pod/${name}`, '--timeout=10s');
      return code === 0;
    });
  }
}

async function applyAll(cluster: Cluster, manifests: object[]): Promise<void> {
  await cluster.apply(manifests.map((each) => JSON.stringify(each)).join('\n---\n'));
}
