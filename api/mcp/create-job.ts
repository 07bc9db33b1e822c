import { z } from 'zod';
import type { DocumentJobKind } from '../../contract/fields.ts';
import { contract } from '../../contract/index.ts';
import { documentId } from './fields.ts';
import { defineTool } from './tool.ts';

const maxAttempts = 4;

/** What each kind of job does with a document. */
const work = {
  'document.extract': 'reads its text',
  'document.index': 'makes it searchable',
  'document.summarize': 'summarizes it',
} satisfies Record<DocumentJobKind, string>;
const kinds = Object.keys(work) as (keyof typeof work)[];

export const createJob = defineTool({
  name: 'create_job',
  title: 'Work on a document',
  description: `Queues a job on a document, which costs credits: ${kinds.map((kind) => `\`${kind}\` ${work[kind]}`).join(', ')}. The job goes on after this call. One that reads or indexes a document is not queued twice.`,
  operations: [contract.jobs.create],
  writes: true,
  input: z.object({ kind: z.enum(kinds), documentId }),
  async call({ kind, documentId: id }, { procedures, run }) {
    const rest = kind === 'document.summarize' ? { maxSentences: 5 } : { once: true };
    return { job: await run(procedures.jobs.create, { kind, documentId: id, maxAttempts, ...rest } as never) };
  },
});
