import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import type { JobKind, OutagePart } from '../../db/schema.ts';
import type { JobHead } from '../jobs/job.ts';
import { stagesLeft } from '../jobs/stages.ts';

/** The parts, with the service itself first. */
export const outageParts = ['ai-service', 'chat', 'embed', 'vision'] as const satisfies OutagePart[];

/** The times of outages, in milliseconds. */
export interface OutageTimes {
  /** The waits between probes; the last one repeats. */
  probeDelaysMs: readonly number[];
  /** The time between two waiting jobs that look again. */
  slotMs: number;
  /** How long a job may wait before it fails. */
  longestWaitMs: number;
  /** How long a probe may take before another one may begin. */
  leaseMs: number;
}

/** A part that a call has found down. */
export interface Down {
  part: OutagePart;
  cause: string;
  retryAfterMs?: number | undefined;
}

type Work = Exclude<JobKind, 'document.process'>;

const needs: Record<Work, OutagePart[]> = {
  'document.extract': ['ai-service'],
  'document.index': ['ai-service', 'embed'],
  'document.summarize': ['ai-service', 'chat'],
  'document.extractFields': ['ai-service', 'chat'],
  'text.summarize': ['ai-service', 'chat'],
  'text.embed': ['ai-service', 'embed'],
};

/** What a job, or its next stage, needs: what its kind does, a reader of images for an image, and what its last attempt lacked. */
export async function partsOf(trx: Db | Transaction, job: JobHead): Promise<OutagePart[]> {
  const work: Work = job.kind === 'document.process' ? `document.${stagesLeft(job)[0] ?? 'summarize'}` : job.kind;
  const lacked = job.waits_for === null || job.waits_for === 'vision' || job.waits_for === 'suspension' ? [] : [job.waits_for];
  const vision: OutagePart[] = (await needsVision(trx, job)) ? ['vision'] : [];
  return [...new Set([...needs[work], ...vision, ...lacked])];
}

/** An image has no text without a reader of images. Whether a PDF needs one is known only once an attempt has lacked it. */
async function needsVision(trx: Db | Transaction, { document_id: id, waits_for: lacked }: JobHead): Promise<boolean> {
  if (id === null) return false;
  const unread = trx.selectFrom('document').select('content_type').where('id', '=', id).where('extracted_at', 'is', null);
  const document = await unread.executeTakeFirst();
  return document !== undefined && (lacked === 'vision' || document.content_type.startsWith('image/'));
}

/** What is known to be down, and what waits for it. */
export interface Outage {
  part: OutagePart;
  cause: string;
  since: Date;
  nextProbeAt: Date;
  /** Since when, and until the next probe, in whole seconds. */
  seconds: number;
  probeSeconds: number;
  /** How many jobs wait. */
  waiting: number;
}

/** What is known to be down, the longest first, with the number of jobs that wait for it. */
export async function listOutages(db: Db): Promise<Outage[]> {
  const { rows } = await sql<Outage>`
    select part, cause, since, next_probe_at as "nextProbeAt", extract(epoch from now() - since)::int as seconds,
      greatest(extract(epoch from next_probe_at - now()), 0)::int as "probeSeconds",
      (select count(*) from job where status = 'queued' and waiting_since is not null and waits_for = part) as waiting
    from provider_outage order by since, part
  `.execute(db);
  return rows;
}
