import { createClient } from '../../../client/index.ts';
import { startBareTemporal } from '../support/bare-temporal.ts';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { alternate, perSecond } from '../support/rounds.ts';
import { residentMb, type Service } from '../support/service.ts';

/** How many documents the client imports at a time. */
const lanes = 8;
const perRound = 100;

/**
 * A bulk import by the client: small documents, from the upload until each is searchable, eight at a time. The rate is compared with bare
 * Temporal running what such a document needs at least: a workflow that waits for a signal, and one with an activity. The longer import shows
 * that neither the client nor the service holds more for more documents.
 */
export const imports: Measure = async (service, { quick, rounds }) => {
  const bare = await startBareTemporal(service);
  const watch = await watchJobs(service);
  const importOne = importer(service, watch.finished);
  const count = quick ? perRound / 4 : perRound;
  try {
    const compared = await alternate(
      rounds(5),
      () => perSecond(count, lanes, importOne),
      () => perSecond(count, lanes, bare.waitAndRun),
    );
    return [
      toFigure('import, from upload to searchable, 8 at a time', { ...compared, unit: 'documents/s' }, { ratio: { atLeast: 0.9 } }),
      ...(await importMany(service, quick ? perRound : 5 * perRound, importOne)),
    ];
  } finally {
    watch.close();
    await bare.stop();
  }
};

/** Imports a document with the client of this project, as a user of it would. */
function importer({ url, token, workspaceId }: Service, finished: (jobId: string) => Promise<void>): (index: number) => Promise<void> {
  const client = createClient({ url, token });
  return async (index) => {
    const file = new Blob([`Note ${index}: the petals of the dome open at dusk, and the night assistant writes down the wind.\n`]);
    const document = await client.uploadDocument({ workspaceId, name: `note-${index}.txt`, contentType: 'text/plain', file });
    await finished((await client.jobs.create({ kind: 'document.index', documentId: document.id })).id);
  };
}

/** The rate of a long import, and how far the memory of both sides grows from its first tenth to its end. */
async function importMany(service: Service, documents: number, importOne: (index: number) => Promise<void>): Promise<Figure[]> {
  const memory = { service: new Peak(() => service.memoryMb()), client: new Peak(() => residentMb(process.pid)) };
  const peaks = Object.values(memory);
  const sampler = setInterval(() => {
    for (const peak of peaks) peak.sample();
  }, 100);
  const rate = await perSecond(documents, lanes, async (index) => {
    await importOne(index);
    if (index === Math.floor(documents / 10)) for (const peak of peaks) peak.mark();
  }).finally(() => clearInterval(sampler));
  const name = `import of ${documents.toLocaleString('en')} documents`;
  return [
    toFigure(`${name}: rate`, { value: rate, unit: 'documents/s' }),
    toFigure(`${name}: growth of the service`, { value: memory.service.growth, unit: 'MB' }, { atMost: 100 }),
    toFigure(`${name}: growth of the client`, { value: memory.client.growth, unit: 'MB' }, { atMost: 100 }),
  ];
}

/** The largest of some samples before a mark, and after it. */
class Peak {
  readonly #read: () => number;
  #before = 0;
  #after = 0;
  #marked = false;

  constructor(read: () => number) {
    this.#read = read;
  }

  sample(): void {
    const value = this.#read();
    if (this.#marked) this.#after = Math.max(this.#after, value);
    else this.#before = Math.max(this.#before, value);
  }

  mark(): void {
    this.sample();
    this.#marked = true;
  }

  /** By how much the peak after the mark exceeds the one before; 0 if it does not. */
  get growth(): number {
    return Math.max(0, this.#after - this.#before);
  }
}
