import { readFileSync } from 'node:fs';
import { createAiClient } from '../../../../adapters/ai-service/client.ts';
import { chunkSizeOf } from '../../../../domain/chunking/chunking.ts';
import { splitText } from '../../../../domain/chunking/split-text.ts';
import { addDocument } from '../support/documents.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { alternate, perSecond, rate } from '../support/rounds.ts';
import { type Service, startService } from '../support/service.ts';

/** The worker's default concurrency. */
const slots = 2;

/**
 * Indexing of waiting documents, in chunks per second, compared with calls of the AI service's embed alone: the same chunks in the same
 * batches and with the same concurrency. Long documents show the cost of a chunk; those of the default limit, that of a job.
 */
export async function indexing({ quick, rounds }: Effort): Promise<Figure[]> {
  const service = await startService({ MAX_TEXT_CHARACTERS: '2000000' });
  try {
    return [
      await measure(service, { name: 'long documents', characters: 1_850_000, documents: quick ? 3 : 10, atLeast: 0.85 }, rounds(5)),
      await measure(
        service,
        { name: 'documents of 190,000 characters', characters: 190_000, documents: quick ? 8 : 20, atLeast: 0.6 },
        rounds(5),
      ),
    ];
  } finally {
    await service.stop();
  }
}

interface Load {
  name: string;
  characters: number;
  documents: number;
  /** The ratio to reach. */
  atLeast: number;
}

async function measure(service: Service, load: Load, rounds: number): Promise<Figure> {
  const ai = createAiClient({ baseUrl: service.stack.aiUrl, token: service.stack.serviceToken });
  const sample = readFileSync('docs/examples/samples/lighthouse-log.txt', 'utf8');
  const text = sample.repeat(Math.ceil(load.characters / sample.length)).slice(0, load.characters);
  const { chunkCharacters = 1_200, textsPerCall = 32 } = (await ai.health()).embeddings[0] ?? {};
  const chunks = splitText(text, chunkSizeOf(chunkCharacters)).map((chunk) => chunk.text);
  const watch = await watchJobs(service);
  const run = async (kind: string, documentId: string) =>
    watch.finished((await service.call('POST', '/api/v1/jobs', { kind, documentId })).id);
  const addDocuments = async () => {
    const ids: string[] = [];
    for (let n = 0; n < load.documents; n++) ids.push(await addDocument(service, `${load.name} ${n}`, text));
    await Promise.all(ids.map((id) => run('document.extract', id)));
    return ids;
  };
  const embed = async () => {
    for (let start = 0; start < chunks.length; start += textsPerCall)
      await ai.embedFloats({ texts: chunks.slice(start, start + textsPerCall) });
  };
  const measured = await alternate(
    rounds,
    async () => {
      const ids = await addDocuments();
      return rate(load.documents * chunks.length, () => Promise.all(ids.map((id) => run('document.index', id))));
    },
    async () => chunks.length * (await perSecond(load.documents, slots, embed)),
  ).finally(() => watch.close());
  return toFigure(`document.index, ${load.name}`, { ...measured, unit: 'chunks/s' }, { ratio: { atLeast: load.atLeast } });
}
