import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Violations } from '../fault.ts';
import { untilEnded } from '../queue-jobs.ts';
import type { Service } from '../service.ts';
import type { Tenant } from '../tenant.ts';
import { restart } from './processes.ts';

const documents = 6;
const pauseMs = 100;

const contentOf = (document: number, number: number) =>
  `Edition ${number} of document ${document} says where the pilot waits. `.repeat(60 + number);

/**
 * Documents get new versions again and again, while the worker and the API are killed: each ends with the bytes, the text and the chunks of
 * the last one, lists those that took its place once, in order, and leaves neither an upload nor an object beside it.
 */
export const versionsKilled: Fault = {
  name: 'versions-killed',
  runs: { full: 1, short: 0 },
  async inject(context) {
    const { service, quiet } = context;
    const ids = await Promise.all(Array.from({ length: documents }, (_, document) => quiet.upload(contentOf(document, 1))));
    const jobs = await Promise.all(ids.map((documentId) => quiet.createJob({ kind: 'document.index', documentId })));
    await untilEnded(service, jobs);
    let isOver = false;
    const replacing = ids.map(async (replaces, document) => {
      let number = 1;
      for (; !isOver; await delay(pauseMs)) await quiet.upload(contentOf(document, ++number), { replaces });
      return number;
    });
    for (const loop of replacing) loop.catch(() => {});
    for (const part of ['api', 'worker', 'api', 'api', 'worker', 'api'] as const) {
      await delay(Math.random() * 1_000);
      await restart(context, part, 500);
    }
    isOver = true;
    const versions = await Promise.all(replacing);
    return { afterRecovery: () => check(service, quiet, ids, versions) };
  },
};

/** `versions` is how many each document has had. */
async function check(service: Service, tenant: Tenant, ids: string[], versions: number[]): Promise<Violations> {
  const { db, objectsDirectory } = service;
  const all = await db.selectFrom('job').select('id').where('organization_id', '=', tenant.organizationId).execute();
  // Each version has a job that the service itself creates, also one that a later version has made superfluous.
  const jobs = all.filter(({ id }) => !tenant.accepted.has(id));
  for (const { id } of jobs) tenant.accepted.add(id);
  const uploads = await db.selectFrom('document').select('id').where('replaces', 'in', ids).execute();
  const rows = await db.selectFrom('document').select('object_key').where('organization_id', '=', tenant.organizationId).execute();
  const known = new Set(rows.map(({ object_key: key }) => basename(key)));
  const objects = readdirSync(join(objectsDirectory, tenant.organizationId)).filter((name) => !known.has(name));
  let [lost, duplicated] = [0, Math.max(0, jobs.length - versions.reduce((sum, each) => sum + each - 1, 0))];
  for (const [document, id] of ids.entries()) {
    const { body } = await tenant.call('GET', `/documents/${id}/versions?limit=200`);
    const listed: { number: number; sha256: string }[] = body.items;
    const digests = new Set(listed.map(({ sha256 }) => sha256));
    lost += listed.filter(({ number }, index) => number !== listed.length - index).length;
    const last = contentOf(document, versions[document] ?? 0);
    lost += Number(listed[0]?.sha256 !== digestOf(last)) + Number(!(await isWhole(service, id, last)));
    duplicated += listed.length - digests.size;
  }
  return { lost, stuck: uploads.length + objects.length, duplicated };
}

/** Whether the bytes, the text and the chunks of a document are those of a content. */
async function isWhole({ db, objectsDirectory }: Service, id: string, content: string): Promise<boolean> {
  const row = await db
    .selectFrom('document')
    .innerJoin('document_text', 'document_id', 'id')
    .select(['object_key', 'sha256', 'text'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return false;
  const chunks = await db.selectFrom('chunk').select('text').where('document_id', '=', id).execute();
  const mark = content.slice(0, content.indexOf(' document'));
  const isStored = row.sha256 === digestOf(content) && readFileSync(join(objectsDirectory, row.object_key), 'utf8') === content;
  return isStored && row.text.trim() === content.trim() && chunks.length > 0 && chunks.every(({ text }) => text.includes(mark));
}

const digestOf = (content: string) => createHash('sha256').update(content).digest('hex');
