import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import type { Service } from '../support/service.ts';
import { deletionWaits } from './deletion-waits.ts';

interface Scope {
  slug: string;
  organizationId: string;
  workspaceId: string;
}

interface Deletion {
  seconds: number;
  /** The peak of the resident memory of the API with its worker. */
  peakMb: number;
}

type Delete = (scope: Scope, objects: number) => Promise<void>;

/**
 * The deletion of an organization and of a workspace with 100,000 stored objects each: the peak memory of the API with its worker,
 * compared with the peak of two deletions of each with 10,000. And what others wait for meanwhile.
 */
export const deletion: Measure = async (service, { quick }) => {
  const many = quick ? 5_000 : 100_000;
  const few = many / 10;
  await service.pool.query(`update "user" set role = 'admin' where id = $1`, [service.userId]);
  const connection = await Connection.connect({ address: service.stack.temporalAddress });
  const { workflow } = new Client({ connection });

  const ways: Record<string, Delete> = {
    async organization({ organizationId, slug }, objects) {
      const body = { confirmSlug: slug };
      // A long deletion gets a 503 and goes on.
      await service.call('DELETE', `/api/v1/admin/organizations/${organizationId}`, body).catch(() => undefined);
      const { objectsDeleted } = await workflow.getHandle(`delete-organization-${organizationId}`).result();
      if (objectsDeleted !== objects) throw new Error(`${objectsDeleted} of ${objects} objects were deleted`);
    },
    async workspace({ organizationId, workspaceId }, objects) {
      await service.call('DELETE', `/api/v1/workspaces/${workspaceId}`);
      const undrained = 'select 1 from workspace_deletion where workspace_id = $1';
      while ((await service.pool.query(undrained, [workspaceId])).rows.length > 0) await delay(200);
      const left = 'select count(*)::int as count from object_to_delete where organization_id = $1';
      while ((await service.pool.query(left, [organizationId])).rows[0].count > 0) await delay(200);
      const { deleted } = await workflow.getHandle(`delete-objects-${organizationId}`).result();
      if (deleted !== objects) throw new Error(`${deleted} of ${objects} objects were deleted`);
    },
  };

  const figures: Figure[] = [];
  try {
    // A new process first grows to its working size.
    let baseline = 0;
    for (const remove of Object.values(ways).flatMap((way) => [way, way])) {
      baseline = Math.max(baseline, (await measure(service, few, remove)).peakMb);
    }
    for (const [what, remove] of Object.entries(ways)) {
      const { peakMb, seconds } = await measure(service, many, remove);
      figures.push(
        toFigure(
          `deletion of ${many.toLocaleString('en')} objects with their ${what}: memory`,
          { value: peakMb, baseline, unit: 'MB' },
          atMost,
        ),
        toFigure(`deletion of ${many.toLocaleString('en')} objects with their ${what}: time`, { value: seconds, unit: 's' }),
      );
    }
  } finally {
    await connection.close();
  }
  return [...figures, ...(await deletionWaits(service))];
};

const atMost = { ratio: { atMost: 1.1 } };

async function measure(service: Service, objects: number, remove: Delete): Promise<Deletion> {
  const scope = await seed(service, objects);
  let peakMb = service.memoryMb();
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, service.memoryMb());
  }, 50);
  const startedAt = performance.now();
  try {
    await remove(scope, objects);
    return { seconds: (performance.now() - startedAt) / 1_000, peakMb };
  } finally {
    clearInterval(sampler);
  }
}

/** Creates an organization whose workspace has `objects` documents, each with its object and a job. */
async function seed(service: Service, objects: number): Promise<Scope> {
  const slug = `deletion-${randomUUID().slice(0, 8)}`;
  const { id: organizationId } = await service.call('POST', '/api/auth/organization/create', { name: slug, slug });
  const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', { organizationId, name: slug, slug: 'main' });
  const values = [slug, organizationId, workspaceId, objects];
  await service.pool.query(
    `insert into document (id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key)
     select $1 || '-' || n, $2, $3, 'seed.txt', 'text/plain', 1, 'ready', $2 || '/' || $1 || '-' || n from generate_series(1, $4::int) n`,
    values,
  );
  await service.pool.query(
    `insert into job (id, organization_id, workspace_id, document_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
     select $1 || '-' || n, $2, $3, $1 || '-' || n, 'document.extract', 'succeeded', '{}', 4, 1, date_trunc('month', now()), now()
     from generate_series(1, $4::int) n`,
    values,
  );
  const directory = join(service.stack.dataDir, 'objects', organizationId);
  mkdirSync(directory, { recursive: true });
  for (let n = 1; n <= objects; n++) writeFileSync(join(directory, `${slug}-${n}`), 'x');
  await service.pool.query('vacuum analyze document, job');
  return { slug, organizationId, workspaceId };
}
