import { randomUUID } from 'node:crypto';
import { createAiClient } from '../../../ai/client.ts';
import { createDb } from '../../../db/connect.ts';
import { searchChunks } from '../../../domain/chunks/search-chunks.ts';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import { alternate, medianMs } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const sizes = [1_000, 10_000, 100_000];
const query = 'how are the mirrors of the telescope cleaned';

/** A search in workspaces of three sizes, compared with the bare SQL query and the call that embeds the query. */
export const search: Measure = async (service) => {
  const ai = createAiClient({ baseUrl: service.stack.aiUrl, token: service.stack.serviceToken });
  const { model, vectors } = await ai.embed({ texts: [query] });
  const vector = vectors[0] ?? [];
  const db = createDb(service.pool);
  const figures: Figure[] = [];
  for (const size of sizes) {
    const workspaceId = await seed(service, size, model, vector.length);
    const times = size > 10_000 ? 4 : 12;
    const measured = await alternate(
      3,
      () => medianMs(times, () => service.call('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, { query })),
      () =>
        medianMs(times, async () => {
          await ai.embed({ texts: [query] });
          await searchChunks(db, { workspaceId, model, vector, limit: 10 });
        }),
    );
    figures.push(toFigure(`search, ${size.toLocaleString('en')} chunks`, { ...measured, unit: 'ms' }, { ratio: { atMost: 1.2 } }));
  }
  return figures;
};

/** Creates a workspace with one document of `chunks` chunks with random vectors. */
async function seed(service: Service, chunks: number, model: string, dimensions: number): Promise<string> {
  const slug = `search-${chunks}`;
  const workspace = { organizationId: service.organizationId, name: slug, slug };
  const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', workspace);
  const upload = { workspaceId, name: 'seed.txt', contentType: 'text/plain', size: 1 };
  const { document } = await service.call('POST', '/api/v1/documents', upload);
  await service.pool.query(
    `insert into chunk (id, organization_id, workspace_id, document_id, index, text, model, embedding)
     select $1 || n, $2, $3, $4, n, repeat('words of a chunk ', 70), $5,
       (select array_agg(random() - 0.5 + n * 0 order by d)::real[] from generate_series(1, $6::int) d)
     from generate_series(1, $7::int) n`,
    [randomUUID(), service.organizationId, workspaceId, document.id, model, dimensions, chunks],
  );
  await service.pool.query('vacuum analyze chunk');
  return workspaceId;
}
