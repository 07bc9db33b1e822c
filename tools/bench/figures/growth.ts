import { randomUUID } from 'node:crypto';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import { alternate, medianMs } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const few = 1_000;

interface Scope {
  organizationId: string;
  workspaceId: string;
}

/** The same requests in an organization with 100,000 documents and jobs (20,000 in a quick run), compared with one with 1,000. */
export const growth: Measure = async (service, { quick, rounds }) => {
  const many = quick ? 20_000 : 100_000;
  const small = await seed(service, few);
  const large = await seed(service, many);
  const requests: Record<string, (scope: Scope) => Promise<unknown>> = {
    'documents.createUpload': ({ workspaceId }) =>
      service.call('POST', '/api/v1/documents', { workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1 }),
    'documents.list': ({ organizationId, workspaceId }) =>
      service.call('GET', `/api/v1/workspaces/${workspaceId}/documents?organizationId=${organizationId}`),
    'jobs.create': ({ organizationId }) => service.call('POST', '/api/v1/jobs', { organizationId, kind: 'text.embed', texts: ['a'] }),
    'jobs.list': ({ organizationId }) => service.call('GET', `/api/v1/organizations/${organizationId}/jobs`),
    'organizations.usage': ({ organizationId }) => service.call('GET', `/api/v1/organizations/${organizationId}/usage`),
  };
  const figures: Figure[] = [];
  for (const [name, request] of Object.entries(requests)) {
    const measured = await alternate(
      rounds(7),
      () => medianMs(40, () => request(large)),
      () => medianMs(40, () => request(small)),
    );
    figures.push(
      toFigure(`${name}, ${many.toLocaleString('en')} rows against 1,000`, { ...measured, unit: 'ms' }, { ratio: { atMost: 1.3 } }),
    );
  }
  return figures;
};

async function seed(service: Service, rows: number): Promise<Scope> {
  const slug = `growth-${rows}-${randomUUID().slice(0, 8)}`;
  const { id: organizationId } = await service.call('POST', '/api/auth/organization/create', { name: slug, slug });
  const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', { organizationId, name: slug, slug: 'main' });
  await service.pool.query(
    `insert into document (id, organization_id, workspace_id, uploaded_by, name, content_type, size_bytes, status, object_key, created_at)
     select $1 || n, $2, $3, $4, 'seed.txt', 'text/plain', 1, 'ready', $1 || n, now() - n * interval '1 second' from generate_series(1, $5::int) n`,
    [`${rows}-`, organizationId, workspaceId, service.userId, rows],
  );
  await service.pool.query(
    `insert into job (id, organization_id, workspace_id, kind, status, input, max_attempts, credits, credit_month, finished_at, created_at)
     select $1 || n, $2, $3, 'text.embed', 'succeeded', '{"texts":["a"]}', 4, 1, date_trunc('month', now()), now(), now() - n * interval '1 second'
     from generate_series(1, $4::int) n`,
    [`${rows}-`, organizationId, workspaceId, rows],
  );
  await service.pool.query('vacuum analyze document, job');
  return { organizationId, workspaceId };
}
