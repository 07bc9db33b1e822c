import { readFileSync } from 'node:fs';
import { createAiClient } from '../../../ai/client.ts';
import { splitText } from '../../../domain/chunks/split-text.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { alternate, perSecond, rate } from '../support/rounds.ts';
import { type Service, startService } from '../support/service.ts';

const embedBatch = 32;
/** The worker's default concurrency. */
const slots = 2;

/**
 * Indexing of waiting documents, in chunks per second, compared with calls of the AI service's embed alone: the same chunks in the same
 * batches and with the same concurrency. Long documents show the cost of a chunk; those of the default limit, that of a job.
 */
export async function indexing(): Promise<Figure[]> {
  const service = await startService({ MAX_TEXT_CHARACTERS: '2000000' });
  try {
    return [
      await measure(service, { name: 'long documents', characters: 1_850_000, documents: 10 }),
      await measure(service, { name: 'documents of 190,000 characters', characters: 190_000, documents: 20 }),
    ];
  } finally {
    await service.stop();
  }
}

async function measure(service: Service, load: { name: string; characters: number; documents: number }): Promise<Figure> {
  const ai = createAiClient({ baseUrl: service.stack.aiUrl, token: service.stack.serviceToken });
  const sample = readFileSync('samples/lighthouse-log.txt', 'utf8');
  const text = sample.repeat(Math.ceil(load.characters / sample.length)).slice(0, load.characters);
  const chunks = splitText(text);
  const watch = await watchJobs(service);
  const run = async (kind: string, documentId: string) =>
    watch.finished((await service.call('POST', '/api/v1/jobs', { kind, documentId })).id);
  const addDocuments = async () => {
    const ids: string[] = [];
    for (let n = 0; n < load.documents; n++) ids.push(await upload(service, `${load.name} ${n}.txt`, 'text/plain', Buffer.from(text)));
    await Promise.all(ids.map((id) => run('document.extract', id)));
    return ids;
  };
  const embed = async () => {
    for (let start = 0; start < chunks.length; start += embedBatch)
      await ai.embedFloats({ texts: chunks.slice(start, start + embedBatch) });
  };
  const measured = await alternate(
    5,
    async () => {
      const ids = await addDocuments();
      return rate(load.documents * chunks.length, () => Promise.all(ids.map((id) => run('document.index', id))));
    },
    async () => chunks.length * (await perSecond(load.documents, slots, embed)),
  ).finally(() => watch.close());
  return toFigure(`document.index, ${load.name}`, { ...measured, unit: 'chunks/s' }, { ratio: { atLeast: 0.8 } });
}

async function upload(service: Service, name: string, contentType: string, bytes: Buffer): Promise<string> {
  const body = { workspaceId: service.workspaceId, name, contentType, size: bytes.length };
  const { document, upload: target } = await service.call('POST', '/api/v1/documents', body);
  const put = await fetch(target.url, { method: 'PUT', headers: target.headers, body: new Uint8Array(bytes) });
  if (put.status !== 200) throw new Error(`PUT: ${put.status}`);
  await service.call('POST', `/api/v1/documents/${document.id}/complete`);
  return document.id;
}
