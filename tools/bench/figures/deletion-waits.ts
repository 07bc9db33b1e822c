import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Figure, toFigure } from '../support/figure.ts';
import { percentile } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const documents = 300;
const chunksPerDocument = 1_000;
const writers = 30;
const readers = 4;
const seconds = 10;

/**
 * What a stranger's `GET /me` takes while a workspace of 300,000 chunks is deleted and thirty writes of its organization are under way,
 * compared with the same writes and no deletion.
 */
export async function deletionWaits(service: Service): Promise<Figure[]> {
  const stranger = await service.signUp();
  const slug = `waits-${randomUUID().slice(0, 8)}`;
  const { id: organizationId } = await service.call('POST', '/api/auth/organization/create', { name: slug, slug });
  const create = (name: string) => service.call('POST', '/api/v1/workspaces', { organizationId, name, slug: name });
  const [written, deleted] = [await create('written'), await create('deleted')];
  await seed(service, { organizationId, workspaceId: deleted.id });

  const remove = () => service.call('DELETE', `/api/v1/workspaces/${deleted.id}`);
  const during = (work?: () => Promise<unknown>) => measure(service, { token: stranger.token, workspaceId: written.id, work });
  await during();
  const baseline = await during();
  const value = await during(remove);
  return [
    toFigure(
      "a stranger's GET /me while 300,000 chunks go with their workspace: p99",
      { value: value.p99, baseline: baseline.p99, unit: 'ms' },
      {
        ratio: { atMost: 2 },
      },
    ),
    toFigure('deletion of a workspace of 300,000 chunks: request', { value: value.workMs, unit: 'ms' }),
  ];
}

interface Load {
  token: string;
  workspaceId: string;
  work?: (() => Promise<unknown>) | undefined;
}

async function measure(service: Service, { token, workspaceId, work }: Load): Promise<{ p99: number; workMs: number }> {
  const endsAt = performance.now() + seconds * 1_000;
  const durations: number[] = [];
  const lanes = (count: number, run: () => Promise<unknown>) =>
    Array.from({ length: count }, async () => {
      while (performance.now() < endsAt) await run();
    });
  const upload = { workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1 };
  const running = [
    ...lanes(writers, () => service.call('POST', '/api/v1/documents', upload)),
    ...lanes(readers, async () => {
      const began = performance.now();
      await service.call('GET', '/api/v1/me', undefined, token);
      durations.push(performance.now() - began);
      await delay(5);
    }),
  ];
  await delay(1_000);
  const began = performance.now();
  await work?.();
  const workMs = performance.now() - began;
  await Promise.all(running);
  return { p99: percentile(durations, 99), workMs };
}

async function seed({ pool }: Service, { organizationId, workspaceId }: { organizationId: string; workspaceId: string }): Promise<void> {
  await pool.query(
    `insert into document (id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key, chunk_count)
     select $2 || '-' || n, $1, $2, 'seed.txt', 'text/plain', 1, 'ready', $1 || '/' || $2 || '-' || n, $4 from generate_series(1, $3::int) n`,
    [organizationId, workspaceId, documents, chunksPerDocument],
  );
  await pool.query(
    `insert into chunk (id, organization_id, workspace_id, document_id, index, text, model, embedding)
     select document.id || '-' || n, $1, $2, document.id, n, repeat('text ', 200), 'bench', array_fill(0.1::real, array[256])
     from document, generate_series(1, $3::int) n where workspace_id = $2`,
    [organizationId, workspaceId, chunksPerDocument],
  );
  await pool.query('vacuum analyze document, chunk');
}
