import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { json } from 'node:stream/consumers';
import { type CheckResult, check, same } from './check.ts';
import { backupTarget, bucket, type ProfiledDeployment } from './profiles.ts';
import { runCommand } from './run-command.ts';

interface DemoOutput {
  documents: { id: string; name: string; chunkCount: number | null }[];
  jobs: { id: string; status: string }[];
  search: { best: object | null }[];
}

interface RawPayload {
  metadata: Record<string, string>;
  data: string;
}

/** Checks the profiles `tls`, `store`, `codec` and `backup`, as clients, a browser and an operator use them. */
export async function checkProfiles(deployment: ProfiledDeployment): Promise<CheckResult[]> {
  let demo: DemoOutput = { documents: [], jobs: [], search: [] };
  return [
    await check('the edge with TLS', () => seeTls(deployment)),
    await check('npm run demo by TLS, documents by links of the store', async () => {
      const { url, temporalUiUrl, certificateFile } = deployment;
      const env = { SHEAF_URL: url, TEMPORAL_UI_URL: temporalUiUrl, NODE_EXTRA_CA_CERTS: certificateFile };
      demo = JSON.parse(await runCommand(process.execPath, ['docs/examples/demo/main.ts', '--json'], { env }));
      const { documents, jobs, search } = demo;
      same('documents that are not indexed', documents.filter(({ chunkCount }) => !chunkCount).length, 0);
      same('searches that find nothing', search.filter(({ best }) => best === null).length, 0);
      return `${documents.length} documents, ${jobs.length} jobs, ${search.length} searches`;
    }),
    await check('documents are in the store, not in the volume', () => seeObjects(deployment, demo)),
    await check('what Temporal stores', () => seeCiphertext(deployment, demo)),
    await check('the codec server', () => seeDecoded(deployment, demo)),
    await check('a backup in the store, and its rehearsal', () => seeBackup(deployment)),
  ];
}

async function seeTls({ url, certificateFile }: ProfiledDeployment): Promise<string> {
  const ready = await ask(`${url}/readyz`, certificateFile);
  same('readiness', [ready.status, ready.body.status], [200, 'ok']);
  same('strict-transport-security', ready.headers['strict-transport-security'], 'max-age=31536000');
  const refusal = await ask(`${url}/readyz`).catch(({ code }) => code);
  same('without the certificate', refusal, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  const plain = await fetch(`${url.replace('https:', 'http:')}/readyz`);
  same('without TLS', plain.status, 400);
  return 'ready with the certificate made for it, refuses requests without TLS';
}

function ask(url: string, certificateFile?: string): Promise<{ status?: number; headers: Record<string, unknown>; body: any }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status?: number; headers: Record<string, unknown>; body: any }>();
  const ca = certificateFile === undefined ? undefined : readFileSync(certificateFile);
  get(url, { ca, agent: false }, (response) => {
    json(response).then((body) => resolve({ status: response.statusCode, headers: response.headers, body }), reject);
  }).on('error', reject);
  return promise;
}

async function seeObjects({ compose }: ProfiledDeployment, { documents }: DemoOutput): Promise<string> {
  if (documents.length === 0) throw new Error('there are no documents');
  for (const { id, name } of documents) {
    const [key = ''] = await compose.query(`select object_key from document where id = '${id}'`);
    const { stdout } = await compose.exec('store', 'sha256sum', `/data/${bucket}/${key}`);
    same(
      name,
      stdout.split(' ')[0],
      createHash('sha256')
        .update(readFileSync(`docs/examples/samples/${name}`))
        .digest('hex'),
    );
  }
  const files = await compose.exec('api', 'find', '/data', '-type', 'f');
  same('files in the volume', [files.code, files.stdout], [0, '']);
  return `${documents.length} with the bytes that were sent, nothing in the volume`;
}

/** The scheduled one was made before there was anything. */
async function seeBackup({ compose }: ProfiledDeployment): Promise<string> {
  const scheduled = (await compose.try('logs', '--no-log-prefix', 'backup')).stdout;
  if (!scheduled.includes(`${backupTarget}/sheaf-`)) throw new Error(`there is none on schedule:\n${scheduled}`);
  const run = (...command: string[]) => compose.run('run', '--rm', '--no-deps', '-T', 'backup', 'node', 'ops/main.ts', ...command);
  const target = `${backupTarget}-by-hand`;
  await run('backup', target);
  const rehearsed = await run('restore', target, '--rehearse');
  if (!rehearsed.includes('the ledger is sound')) throw new Error(rehearsed);
  return rehearsed.trim();
}

async function seeCiphertext(deployment: ProfiledDeployment, demo: DemoOutput): Promise<string> {
  const payloads = await readHistories(deployment, demo);
  const encodings = payloads.map(({ metadata }) => [fromBase64(metadata.encoding), fromBase64(metadata['encryption-key-id'])].join());
  same('encodings and keys', [...new Set(encodings)], [`binary/encrypted,${deployment.payloadKeyId}`]);
  const clear = payloads.map(({ data }) => fromBase64(data)).join('\n');
  for (const { id } of demo.jobs) if (clear.includes(id)) throw new Error(`a payload shows ${id}`);
  return `${payloads.length} payloads of ${demo.jobs.length} jobs, all encrypted`;
}

async function seeDecoded(deployment: ProfiledDeployment, demo: DemoOutput): Promise<string> {
  const { codecUrl, temporalUiUrl } = deployment;
  const payloads = await readHistories(deployment, demo);
  const decode = (origin: string) =>
    fetch(`${codecUrl}/decode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ payloads }),
    });
  same('a page of another origin', (await decode('http://elsewhere.example')).status, 403);
  const response = await decode(temporalUiUrl);
  same('the UI', [response.status, response.headers.get('access-control-allow-origin')], [200, temporalUiUrl]);
  const decoded = ((await response.json()) as { payloads: RawPayload[] }).payloads.map(({ data }) => fromBase64(data)).join('\n');
  for (const { id } of demo.jobs) if (!decoded.includes(id)) throw new Error(`nothing that was decoded names the job ${id}`);
  const settings: any = await (await fetch(`${temporalUiUrl}/api/v1/settings`)).json();
  same('what the UI tells browsers', settings.Codec?.Endpoint, codecUrl);
  return `decodes ${payloads.length} payloads for the UI, which names it; refuses pages of other origins`;
}

/** Read by Temporal itself: search attributes, headers, and in markers the names of patches and of local activities. */
const readByTemporal = ['searchAttributes', 'header', 'patch-data', 'data'];

/** The histories of the workflows of the demo's jobs, as Temporal's UI gets them from Temporal, without what Temporal reads itself. */
async function readHistories({ temporalUiUrl }: ProfiledDeployment, { jobs }: DemoOutput): Promise<RawPayload[]> {
  if (jobs.length === 0) throw new Error('there are no jobs');
  const payloads: RawPayload[] = [];
  for (const { id } of jobs) {
    const response = await fetch(`${temporalUiUrl}/api/v1/namespaces/default/workflows/job-${id}/history`);
    same(`the history of ${id}`, response.status, 200);
    collectPayloads(await response.json(), payloads);
  }
  return payloads;
}

function collectPayloads(value: unknown, payloads: RawPayload[]): void {
  if (typeof value !== 'object' || value === null) return;
  if ('metadata' in value && 'data' in value) return void payloads.push(value as RawPayload);
  for (const [name, each] of Object.entries(value)) if (!readByTemporal.includes(name)) collectPayloads(each, payloads);
}

function fromBase64(text = ''): string {
  return Buffer.from(text, 'base64').toString('latin1');
}
