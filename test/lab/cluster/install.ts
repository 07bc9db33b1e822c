import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { Cluster } from './cluster.ts';

/** Where clients reach the service: by the name that `control.sh` gives the first node, where the ingress controller listens. */
export const url = 'https://sheaf.test';
const chart = resolve('ops/deploy/kubernetes');

/** As docs/kubernetes.md has it, for the store and the databases of `outside.yaml`. */
const values = {
  config: {
    API_URL: url,
    EMAIL_FROM: 'Sheaf <no-reply@example.com>',
    FIRST_ADMIN_EMAIL: 'you@example.com',
    TEMPORAL_ADDRESS: 'temporal-frontend.temporal:7233',
    STORAGE_DRIVER: 's3',
    STORAGE_BUCKET: 'sheaf-documents',
    STORAGE_API_ENDPOINT: 'http://store.outside:7070',
    STORAGE_PUBLIC_ENDPOINT: 'http://10.10.0.11:30070',
    STORAGE_ACCESS_KEY_ID: 'sheaf',
    STORAGE_SECRET_ACCESS_KEY_FILE: '/run/secrets/storage-key',
    GOOGLE_APPLICATION_CREDENTIALS: '',
    AWS_ENDPOINT_URL_S3: 'http://store.outside:7070',
    AWS_REGION: 'us-east-1',
    AWS_SHARED_CREDENTIALS_FILE: '/run/secrets/aws-credentials',
    // The demo signs up with an address that it makes up, and all requests come from one address.
    REQUIRE_EMAIL_VERIFICATION: 'false',
    RATE_LIMIT_PER_MINUTE: '100000',
  },
  ingress: { className: 'contour', annotations: { 'projectcontour.io/response-timeout': 'infinity' } },
  // Else the second pod of an update finds no whole processor free on one node.
  ai: { resources: { requests: { cpu: '500m' } } },
  backup: { target: 's3://sheaf-backups/production' },
};

/** Makes namespace and secrets as docs/kubernetes.md says. */
export async function makeSecrets(cluster: Cluster, directory: string): Promise<void> {
  const token = randomBytes(32).toString('hex');
  const secrets = {
    'sheaf-server': {
      'auth-secret': randomBytes(32).toString('hex'),
      'service-token': token,
      'database-url': 'postgres://sheaf:of-sheaf@postgres.outside:5432/sheaf',
      'smtp-url': 'smtp://mail.outside:25',
      'storage-key': 'of-store',
      'aws-credentials': '[default]\naws_access_key_id = sheaf\naws_secret_access_key = of-store',
    },
    'sheaf-ai': { 'service-token': token },
  };
  await cluster.apply(readFileSync(join(chart, 'namespace.yaml'), 'utf8'));
  for (const [name, files] of Object.entries(secrets)) {
    mkdirSync(join(directory, name), { recursive: true });
    for (const [file, secret] of Object.entries(files)) writeFileSync(join(directory, name, file), `${secret}\n`);
    const from = Object.keys(files).map((file) => `--from-file=${join(directory, name, file)}`);
    await cluster.kubectl('-n', 'sheaf', 'create', 'secret', 'generic', name, ...from);
  }
  await cluster.issue('edge', '/CN=sheaf.test', 'DNS:sheaf.test');
  const certificate = cluster.authority.replace(/ca\.crt$/, 'edge');
  await cluster.kubectl('-n', 'sheaf', 'create', 'secret', 'tls', 'sheaf-tls', `--cert=${certificate}.crt`, `--key=${certificate}.key`);
}

/** Installs the chart, or changes what is installed by more values, and waits until all pods are those of this version. */
export async function installChart(cluster: Cluster, helm: string, directory: string, more: object = {}): Promise<void> {
  writeFileSync(join(directory, 'values.yaml'), stringify(values));
  writeFileSync(join(directory, 'more.yaml'), stringify(more));
  const files = ['values.yaml', 'more.yaml'].flatMap((name) => ['--values', join(directory, name)]);
  await cluster.at(
    'control',
    helm,
    'upgrade',
    '--install',
    'sheaf',
    chart,
    '--namespace',
    'sheaf',
    '--kubeconfig',
    cluster.access,
    ...files,
  );
  for (const name of ['api', 'ai', 'worker'])
    await cluster.kubectl('-n', 'sheaf', 'rollout', 'status', `deploy/sheaf-${name}`, '--timeout=600s');
}
