import { readFileSync } from 'node:fs';
import { createAiClient } from '../../ai/client.ts';
import { splitText } from '../../domain/chunks/split-text.ts';
import { toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import type { Measure } from '../support/measure.ts';
import { alternate, perSecond, rate } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const embedBatch = 32;
/** As many as the worker works on at once, by default. */
const slots = 2;
const documents = 10;

/**
 * Indexing, in chunks a second with documents waiting, beside the AI service's embed alone: the same chunks in the same batches, for
 * as many documents at once as the worker takes.
 */
export const indexing: Measure = async (service) => {
  const ai = createAiClient({ baseUrl: service.stack.aiUrl, token: service.stack.serviceToken });
  const sample = readFileSync('samples/lighthouse-log.txt', 'utf8');
  const text = sample.repeat(Math.ceil(190_000 / sample.length)).slice(0, 190_000);
  const chunks = splitText(text);
  const watch = await watchJobs(service);
  const run = async (kind: string, documentId: string) =>
    watch.finished((await service.call('POST', '/api/v1/jobs', { kind, documentId })).id);
  const ids: string[] = [];
  for (let n = 0; n < documents; n++) ids.push(await upload(service, `long-${n}.txt`, 'text/plain', Buffer.from(text)));
  await Promise.all(ids.map((id) => run('document.extract', id)));
  const embed = async () => {
    for (let start = 0; start < chunks.length; start += embedBatch) await ai.embed({ texts: chunks.slice(start, start + embedBatch) });
  };
  try {
    const measured = await alternate(
      5,
      () => rate(documents * chunks.length, () => Promise.all(ids.map((id) => run('document.index', id)))),
      async () => chunks.length * (await perSecond(documents, slots, embed)),
    );
    return [toFigure('document.index', { ...measured, unit: 'chunks/s' }, { ratio: { atLeast: 0.8 } })];
  } finally {
    watch.close();
  }
};

async function upload(service: Service, name: string, contentType: string, bytes: Buffer): Promise<string> {
  const body = { workspaceId: service.workspaceId, name, contentType, size: bytes.length };
  const { document, upload: target } = await service.call('POST', '/api/v1/documents', body);
  const put = await fetch(target.url, { method: 'PUT', headers: target.headers, body: new Uint8Array(bytes) });
  if (put.status !== 200) throw new Error(`PUT: ${put.status}`);
  await service.call('POST', `/api/v1/documents/${document.id}/complete`);
  return document.id;
}
