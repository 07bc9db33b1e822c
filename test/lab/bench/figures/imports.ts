import { createClient } from '../../../../clients/typescript/index.ts';
import { startBareTemporal } from '../support/bare-temporal.ts';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { alternate, perSecond } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

/** How many documents the client imports at a time. */
const atOnce = 8;
const perRound = 100;

/**
 * A bulk import by the client: small documents, from the upload until each is searchable, eight at a time. The rate is compared with bare
 * Temporal running what such a document needs at least: a workflow that waits for a signal, and one with an activity. The longer import shows
 * that the service holds no more memory for more documents.
 */
export const imports: Measure = async (service, { quick, rounds }) => {
  const bare = await startBareTemporal(service);
  const watch = await watchJobs(service);
  const importOne = importer(service, watch.finished);
  const count = quick ? perRound / 4 : perRound;
  try {
    const compared = await alternate(
      rounds(5),
      () => perSecond(count, atOnce, importOne),
      () => perSecond(count, atOnce, bare.waitAndRun),
    );
    return [
      toFigure('import, from upload to searchable, 8 at a time', { ...compared, unit: 'documents/s' }, { ratio: { atLeast: 0.9 } }),
      await importMany(service, quick ? perRound : 5 * perRound, importOne),
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

/** How far the memory of the service grows during a long import, from its first tenth to its end. */
async function importMany(service: Service, documents: number, importOne: (index: number) => Promise<void>): Promise<Figure> {
  let isBegun = false;
  let [before, after] = [0, 0];
  const sampler = setInterval(() => {
    if (isBegun) after = Math.max(after, service.memoryMb());
    else before = Math.max(before, service.memoryMb());
  }, 100);
  await perSecond(documents, atOnce, async (index) => {
    await importOne(index);
    if (index === Math.floor(documents / 10)) isBegun = true;
  }).finally(() => clearInterval(sampler));
  const name = `import of ${documents.toLocaleString('en')} documents: growth of the service`;
  return toFigure(name, { value: Math.max(0, after - before), unit: 'MB' }, { atMost: 100 });
}
